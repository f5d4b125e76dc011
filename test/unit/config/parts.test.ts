import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { checkOf, checkTypeNames } from '#checks/index.ts';
import { expand } from '#config/read/environment.ts';
import { alternatives, formatPath, nearest } from '#kernel/wording.ts';
import { CronPattern, TimeZone } from '#config/shape/schedule.ts';
import { specOf, Target, targetOf } from '#config/shape/target.ts';
import { readYaml } from '#config/read/yaml.ts';

test.each([
  { written: 'plain $ and $HOST and {HOST}', text: 'plain $ and $HOST and {HOST}', changed: false },
  { written: 'a${HOST}b${HOST}', text: 'axbx', changed: true },
  { written: '${NONE:-default}', text: 'default', changed: true },
  { written: '${EMPTY:-default}', text: 'default', changed: true },
  { written: '${EMPTY}', text: '', changed: true },
  { written: '${NONE:-}', text: '', changed: true },
  { written: '${NONE:-a:-b c}', text: 'a:-b c', changed: true },
  { written: '${HOST:-other}', text: 'x', changed: true },
  { written: '$${HOST} costs $$5', text: '${HOST} costs $$5', changed: false },
])('$written becomes "$text"', ({ written, text, changed }) => {
  expect(expand(written, { HOST: 'x', EMPTY: '' })).toEqual({ text, changed, faults: [] });
});

test.each(['${NONE}', '${}', '${a b}', '${HOST', '${1A}'])('%s is a fault', (written) => {
  expect(expand(`x ${written}`, { HOST: 'x' }).faults).toHaveLength(1);
});

test('what a variable holds is not expanded again', () => {
  expect(expand('${A}', { A: '${B}', B: 'secret' }).text).toBe('${B}');
});

test.each([
  ['evry', 'every'],
  ['eveyr', 'every'],
  ['tpc', 'tcp'],
  ['HTTP_', 'http'],
  ['x', null],
  ['quorum', null],
])('for %s it suggests %s', (written, name) => {
  expect(nearest(written, ['every', 'tcp', 'http', 'cron'])).toBe(name);
});

test('names are listed as people do', () => {
  expect([alternatives(['a']), alternatives(['a', 'b']), alternatives(['a', 'b', 'c'])]).toEqual([
    '"a"',
    '"a" or "b"',
    '"a", "b" or "c"',
  ]);
  expect(formatPath(['targets', 'shop', 'notify', 0])).toBe('targets.shop.notify[0]');
});

test.each(['* * * * *', '*/5 * * * * *', '0 9-17 * * MON-FRI', '0 0 29 2 *', '0 0 L * *', '  0   8 * * 1,3,5 '])(
  '"%s" is a cron pattern',
  (pattern) => {
    expect(CronPattern.safeParse(pattern).success).toBe(true);
  },
);

test('no text makes the cron judge throw', () => {
  const part = fc.stringMatching(/^[*/,\-0-9LW#?A-Z+]{1,5}$/);
  const pattern = fc.array(part, { minLength: 4, maxLength: 7 }).map((parts) => parts.join(' '));
  fc.assert(fc.property(fc.oneof(pattern, fc.string()), (text) => CronPattern.safeParse(text).success !== undefined));
});

test.each(['UTC', 'Europe/Berlin', 'America/Argentina/Buenos_Aires'])('%s is a time zone', (zone) => {
  expect(TimeZone.safeParse(zone).success).toBe(true);
});

test('every check type has a form of its own, and the spec of a target is the type with its options', () => {
  expect(checkTypeNames.length).toBeGreaterThan(0);
  expect(Target().options).toHaveLength(checkTypeNames.length);
  const raw = { check: 'tcp', host: 'a:1', timeout: '2s', every: '1m', labels: {}, notify: [], nodes: 1 };
  expect(specOf(raw)).toEqual({ type: 'tcp', host: 'a:1', timeout: '2s' });
});

test('an option of a check type that bears the name of a key of every target is refused', () => {
  const clashing = { ...checkOf('tcp'), Spec: z.strictObject({ type: z.literal('tcp'), labels: z.string() }) };
  expect(() => targetOf([clashing])).toThrow('option labels of check type tcp');
});

test('aliases that would unfold into millions of values are refused', () => {
  const levels = Array.from({ length: 9 }, (_, level) => {
    const entries = Array.from({ length: 10 }, () => (level === 0 ? 'x' : `*a${level - 1}`));
    return `a${level}: &a${level} [${entries.join(', ')}]`;
  });
  const read = readYaml({ file: 'x.yaml', text: levels.join('\n') }, 0, {});
  expect(read.problems[0]?.message).toMatch(/stand for more than 100000 values/);
});

test('no text makes the reader throw', () => {
  const word = fc.constantFrom(
    'a',
    ':',
    ' ',
    '\n',
    '-',
    '[',
    ']',
    '{',
    '}',
    '&a',
    '*a',
    '<<',
    '"',
    "'",
    '${X}',
    '|',
    '#',
    '\t',
    '? ',
    '!!x',
  );
  const yaml = fc.array(word, { maxLength: 40 }).map((words) => words.join(''));
  fc.assert(
    fc.property(fc.oneof(yaml, fc.string()), (text) => {
      const { problems } = readYaml({ file: 'x.yaml', text }, 0, {});
      for (const { place } of problems) expect(Math.min(place.line, place.column)).toBeGreaterThan(0);
    }),
    { numRuns: 500 },
  );
});
