import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { proposedName, proposedType } from '#config/edit/proposed-target.ts';
import { withoutTarget, withTarget } from '#config/edit/target-lines.ts';
import { withLines, writtenTargets } from '#config/edit/written-target.ts';

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

describe('the lines of a target', () => {
  const before =
    'data: &d a.db\ntargets:\n  a: { check: ping, host: "${A}" } # first\n  # of the shop\n  shop:\n    check: http\n    password_file: p # main\n\n  c: {}\n';
  const shopLines = '  shop:\n    check: http\n    password_file: p # main\n';
  const found = (text: string, name: string) => {
    const one = writtenTargets(source(text)).find((target) => target.name === name);
    if (one === undefined) throw new Error(`there is no ${name}`);
    return one;
  };
  const changed = (text: string, name: string, lines: string) => withLines(source(text), found(text, name), lines);

  test('are found with their place', () => {
    expect(writtenTargets(source(before)).map(({ name, line }) => [name, line])).toEqual([
      ['a', 3],
      ['shop', 5],
      ['c', 9],
    ]);
    expect(found(before, 'shop').lines).toBe(shopLines);
    expect(writtenTargets(source('targets: { a: {}, b: {} }\n')).map(({ byHand }) => byHand)).toEqual([
      'stands on a line with other targets',
      'stands on a line with other targets',
    ]);
    expect(writtenTargets(source('targets: &all\n  ? a\n  : {}\n'))).toMatchObject([
      { byHand: 'does not begin its line' },
    ]);
    expect(writtenTargets(source('data: a.db\n'))).toEqual([]);
  });

  test.each([
    ['as they are', 'shop', shopLines, before],
    [
      'with a new name',
      'shop',
      '  store:\r\n    check: http\r\n\r\n',
      before.replace(shopLines, '  store:\n    check: http\n'),
    ],
    ['of the last one', 'c', '  c: { check: ping } # last', before.replace('c: {}', 'c: { check: ping } # last')],
    [
      'with the reference that is there',
      'a',
      '  a: { check: tcp, host: "${A}:1" }',
      before.replace('{ check: ping, host: "${A}" } # first', '{ check: tcp, host: "${A}:1" }'),
    ],
  ])('are exchanged: %s', (_, name, lines, after) => {
    expect(changed(before, name, lines).text).toBe(after);
  });

  test('keep the newlines of the file, and its end', () => {
    const windows = 'targets:\r\n  a:\r\n    check: ping';
    expect(changed(windows, 'a', '  a:\n    check: ping\n    host: b').text).toBe(`${windows}\r\n    host: b`);
  });

  test('that are no YAML are left to what reads it', () => {
    expect(changed(before, 'shop', '  shop: { check: http')).toMatchObject({ name: null });
  });

  test.each([
    ['two targets', 'c', '  c: {}\n  d: {}'],
    ['no target', 'c', '  # nothing'],
    ['a section', 'c', '  c: {}\nhttp: { users: {} }'],
    ['a section instead', 'c', 'http: { users: {} }'],
    ['the name of another', 'c', '  a: {}'],
    ['another document', 'c', '  c: {}\n---\ntargets: {}'],
  ])('must be one target: %s', (_, name, lines) => {
    expect(() => {
      const { name: read } = changed(before, name, lines);
      if (read === null) throw new Error('left to what reads it: must be one target, and change nothing else');
    }).toThrow('must be one target, and change nothing else');
  });

  test('that define what others use must leave it as it is', () => {
    const text = 'targets:\n  a: &a { check: ping, host: a }\n  b: *a\n';
    expect(() => changed(text, 'a', '  a: &a { check: ping, host: b }')).toThrow('change nothing else');
    expect(changed(text, 'a', '  a: &a { host: a, check: ping } # same').name).toBe('a');
  });

  test.each([
    ['  c: { host: "https://example.com/${SECRET}" }', '${SECRET}'],
    ['  c: { host: a, auth: { password_file: /etc/shadow } }', 'password_file: /etc/shadow'],
    ['  c: { host: *d }', '*d'],
    ['  c: { <<: *d }', '*d'],
    ['  c: { password_file: p }', 'password_file: p'],
    ['  c: { "${KEY}": p }', '${KEY}'],
    ['  c: { files: [{ key_file: [a, b] }] }', 'key_file'],
    ['  c: { "key\\u005ffile": /etc/shadow }', 'key_file: /etc/shadow'],
  ])('may not refer to more than they did: %s', (lines, reference) => {
    expect(() => changed(before, 'c', lines)).toThrow(reference);
    expect(() => changed(before, 'c', lines)).toThrow('are added by hand, in w.yaml');
  });
});
