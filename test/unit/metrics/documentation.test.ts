import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { FailureCode } from '#checks/index.ts';
import { durationBounds } from '#metrics/check.ts';
import { testMetrics, textOf } from '../../support/metrics.ts';

const document = readFileSync(new URL('../../../docs/metrics.md', import.meta.url), 'utf8');

test('every metric stands in the documentation with its type, and none stands there that is not', async () => {
  const other = { name: 'b', isDegraded: false };
  const hubs = { isLeader: true, isAlone: false, applied: 1, behind: 0, leaderlessSeconds: 0, others: [other] };
  const metrics = testMetrics({ hubs: () => hubs }, undefined, {
    shown: { buckets: null, blackbox: true, pairLimit: 20_000 },
  });
  const exported = new Map(
    [...(await textOf(metrics)).matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name, type]),
  );
  const rows = [...document.matchAll(/^\| (`[^|]+`) \| (\w*) \|/gm)];
  const documented = rows.flatMap(([, names = '', type]) =>
    [...names.matchAll(/`(\w+)`/g)].map(([, name]) => ({ name, type })),
  );
  expect(documented.map(({ name }) => name)).toEqual(expect.arrayContaining([...exported.keys()]));
  expect(documented).toHaveLength(exported.size);
  for (const { name, type } of documented) expect([name, type]).toEqual([name, exported.get(name)]);
});

test('the reasons in the documentation are the failure codes', () => {
  const paragraph = /^`reason` is one of the failure codes: ([^]*?)\n\n/m.exec(document)?.[1] ?? '';
  const codes = [...paragraph.matchAll(/`([^`]+)`/g)].flatMap(([, words = '']) => words.split(/\s+/));
  expect(codes).toEqual(FailureCode.options);
});

test('the bounds in the documentation are those of the histogram', () => {
  const [, milliseconds = '', seconds = ''] = /Bounds: ([\d., ]+) ms, ([\d, ]+) s/.exec(document) ?? [];
  const numbers = (words: string) => words.split(', ').map(Number);
  expect([...numbers(milliseconds).map((ms) => ms / 1_000), ...numbers(seconds)]).toEqual([...durationBounds]);
});
