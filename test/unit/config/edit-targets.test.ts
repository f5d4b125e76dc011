import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { proposedName, proposedType } from '#config/edit/proposed-target.ts';
import { withoutTarget, withTarget } from '#config/edit/target-lines.ts';

const source = (text: string) => ({ file: 'w.yaml', text });
const shop = { name: 'shop', keys: { check: 'http', host: 'https://shop.example.com/?a=1#b', every: '30s' } };
const line = 'shop: { check: http, host: https://shop.example.com/?a=1#b, every: 30s }';

describe('a target is added after the others, and nothing else changes', () => {
  test.each([
    ['no text at all', '', `targets:\n  ${line}\n`],
    ['no targets', 'data: a.db # here\n', `data: a.db # here\n\ntargets:\n  ${line}\n`],
    ['no newline at the end', 'data: a.db', `data: a.db\n\ntargets:\n  ${line}\n`],
    ['targets without any', 'targets: # none yet\ndata: a.db\n', `targets: # none yet\n  ${line}\ndata: a.db\n`],
    ['an empty map', 'targets: {}\ndata: a.db\n', `targets:\n  ${line}\ndata: a.db\n`],
    [
      'one on a line',
      'targets:\n    a: { check: ping, host: a } # first\n\n# rules\nrules: {}\n',
      `targets:\n    a: { check: ping, host: a } # first\n    ${line}\n\n# rules\nrules: {}\n`,
    ],
    [
      'one over several lines, the last of the file',
      'targets:\n  a:\n    check: ping\n    host: a',
      `targets:\n  a:\n    check: ping\n    host: a\n  ${line}\n`,
    ],
    [
      'all on one line',
      'targets: { a: { check: ping, host: a } }\n',
      `targets: { a: { check: ping, host: a }, ${line} }\n`,
    ],
    [
      'lines of Windows',
      'targets:\r\n  a: { check: ping, host: a }\r\n',
      `targets:\r\n  a: { check: ping, host: a }\r\n  ${line}\r\n`,
    ],
  ])('%s', (_, before, after) => {
    expect(withTarget(source(before), shop)).toBe(after);
  });

  test('whatever is written there', () => {
    const name = fc.stringMatching(/^[a-z][a-z0-9-]{0,8}$/).filter((one) => one !== 'shop');
    const target = fc.record({ check: fc.constant('http'), host: fc.stringMatching(/^[a-z:/.#? -]{1,20}$/) });
    const entry = fc.tuple(
      name,
      target,
      fc.constantFrom('flow', 'block'),
      fc.constantFrom('', ' # why', '\n  # about the next'),
    );
    fc.assert(
      fc.property(fc.uniqueArray(entry, { selector: ([one]) => one, maxLength: 5 }), (entries) => {
        const lines = entries.map(([one, { check, host }, form, comment]) =>
          form === 'flow'
            ? `  ${one}: { check: ${check}, host: ${JSON.stringify(host)} }${comment}\n`
            : `  ${one}:\n    check: ${check}\n    host: ${JSON.stringify(host)}${comment}\n`,
        );
        const before = `# top\ntargets:\n${lines.join('')}\nrules: { down: {} }\n`;
        const after = withTarget(source(before), shop);
        const read = (text: string) => parse(text) as { targets: Record<string, unknown> | null };
        expect(read(after)).toEqual({ ...read(before), targets: { ...read(before).targets, shop: shop.keys } });
        expect(after.replace(`  ${line}\n`, '')).toBe(before);
        expect(withoutTarget(source(after), 'shop')).toBe(before);
      }),
      { numRuns: 100 },
    );
  });

  test.each([
    ['targets: *other\nother: &other {}\n', 'targets is an alias'],
    ['targets: 5\n', 'targets is no map'],
    ['{ targets: { a: { check: ping, host: a } } }\n', 'the file is not a list of keys, one on each line'],
  ])('a form that people have to change by hand: %j', (text, why) => {
    expect(() => withTarget(source(text), shop)).toThrow(`w.yaml: ${why}: change it by hand`);
  });
});

test('a target is removed with its lines, and nothing else changes', () => {
  const before =
    'targets:\n  a: { check: ping, host: a }\n  # of the shop\n  shop:\n    check: http\n    host: b # main\n  c: {}\n';
  expect(withoutTarget(source(before), 'shop')).toBe(
    'targets:\n  a: { check: ping, host: a }\n  # of the shop\n  c: {}\n',
  );
  expect(withoutTarget(source(before), 'other')).toBe(null);
  expect(() => withoutTarget(source('targets: { a: {}, b: {} }\n'), 'a')).toThrow(
    'stands on a line with other targets',
  );
});

test.each([
  ['https://www.shop.example.com/a', 'http', 'shop-example-com'],
  ['shop.example.com', 'ping', 'shop-example-com-2'],
  ['[2001:db8::1]:443', 'tcp', '2001-db8-1'],
  ['wss://feed.example.com', 'websocket', 'feed-example-com'],
  ['postgres://db.example.com', 'postgres', 'db-example-com'],
  ['imaps://mail.example.com', 'tcp', 'mail-example-com'],
  ['bücher.example', 'ping', 'xn-bcher-kva-example'],
])('%s is checked by %s and named %s', (host, type, name) => {
  const taken = host === 'shop.example.com' ? ['shop-example-com'] : [];
  expect([proposedType(host), proposedName(host, new Set(taken))]).toEqual([type, name]);
});

test('what is no destination is refused', () => {
  expect(() => proposedType('a b')).toThrow('"a b" must not contain spaces');
});
