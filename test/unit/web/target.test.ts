import { expect, test } from 'vitest';
import type { TargetChange } from '#history/changes.ts';
import { type Spread, SpreadRing } from '#web/state/spread.ts';
import { answers, certificates } from '#web/pages/changes.ts';
import type { Markup } from '#web/pages/markup.ts';
import { smoke } from '#web/pages/smoke.ts';

const noon = Date.parse('2026-01-01T12:00:00Z');
const day = 86_400_000;

const certificate = (subject: string, validTo: string) =>
  JSON.stringify({ subject, issuer: 'CN=R1', valid_to: validTo, fingerprint: `${subject}:AA:BB` });

function change(kind: TargetChange['kind'], node: string, at: number, value: string): TargetChange {
  return { target: 'shop', kind, node, at, value };
}

const rowsOf = (markup: Markup) =>
  String(markup)
    .split('<tr>')
    .slice(2)
    .map((row) =>
      row
        .replaceAll(/<[^>]*>/g, ' ')
        .replaceAll(/\s+/g, ' ')
        .trim(),
    );

test('a certificate stands with what it was before, and says how long it is good', () => {
  const all = [
    change('certificate', 'us1', noon + 1_000, certificate('CN=new', '2026-04-01T00:00:00Z')),
    change('certificate', 'de1', noon, certificate('CN=new', '2026-04-01T00:00:00Z')),
    change('certificate', 'de1', noon - day, certificate('<b>old</b>', '2026-01-02T00:00:00Z')),
  ];
  expect(rowsOf(certificates(all, noon))).toEqual([
    '2026-01-01 12:00:00 UTC now us1, de1 CN=new CN=R1 2026-04-01 89 days left CN=new:AA:BB…',
    '2025-12-31 12:00:00 UTC before de1 &lt;b&gt;old&lt;/b&gt; CN=R1 2026-01-02 &lt;b&gt;old&lt;/b&gt;:AA:BB…',
  ]);
  expect(String(certificates([], noon))).toBe('');
});

test('answers stand by who sees them, and when they were others', () => {
  const all = [
    change('answers', 'de1', noon, 'A 192.0.2.2'),
    change('answers', 'us1', noon - day, 'A 192.0.2.1'),
    change('answers', 'de1', noon - day, 'A 192.0.2.1'),
  ];
  expect(rowsOf(answers(all))).toEqual([
    '2026-01-01 12:00:00 UTC now de1 A 192.0.2.2',
    '2025-12-31 12:00:00 UTC now us1 A 192.0.2.1',
    '2025-12-31 12:00:00 UTC before de1 A 192.0.2.1',
  ]);
});

test('the last spreads of a node are kept in order, those before are forgotten', () => {
  const ring = new SpreadRing(3);
  const spread = (dueAt: number): Spread => ({ dueAt, loss: 0.25, least: 0.5, mean: 1, most: dueAt === 4 ? null : 2 });
  expect(ring.list()).toEqual([]);
  for (const dueAt of [1, 2, 3, 4]) ring.add(spread(dueAt));
  expect(ring.list()).toEqual([spread(2), spread(3), spread(4)]);
});

test('loss and spread are told in words besides the drawing, and nothing where no echoes are sent', () => {
  const spreads = new Map([['de1', [{ dueAt: noon, loss: 0.5, least: 0.01, mean: 0.02, most: 0.03 }]]]);
  expect(String(smoke({ spreads }))).toContain('aria-label="de1: 50 % lost, from 10 ms to 30 ms"');
  expect(String(smoke({ spreads: new Map() }))).toBe('');
});
