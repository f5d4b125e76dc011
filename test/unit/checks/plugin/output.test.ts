import { expect, test } from 'vitest';
import { argumentsOf } from '#checks/plugin/commands.ts';
import { PluginCommands } from '#checks/plugin/command-schemas.ts';
import { parseOutput } from '#checks/plugin/output.ts';
import { parsePerformanceData } from '#checks/plugin/performance-data.ts';

const plain = { unit: '', warning: null, critical: null, min: null, max: null };
const bytes = (text: string) => Buffer.from(text);

test('the line of a ping', () => {
  expect(parsePerformanceData('rta=0.051000ms;100.000000;200.000000;0.000000 pl=0%;20;60;0')).toEqual({
    values: [
      { label: 'rta', value: 0.051, unit: 'ms', warning: '100.000000', critical: '200.000000', min: 0, max: null },
      { label: 'pl', value: 0, unit: '%', warning: '20', critical: '60', min: 0, max: null },
    ],
    omitted: 0,
  });
});

test.each<readonly [string, object]>([
  ["'free space'=1", { label: 'free space', value: 1 }],
  ["'it''s'=1", { label: "it's", value: 1 }],
  ['/=2643MB;5948;5958;0;5968', { label: '/', value: 2643, unit: 'MB', warning: '5948', max: 5968 }],
  ['packets=12c', { label: 'packets', value: 12, unit: 'c' }],
  ['t=.5us', { label: 't', value: 0.5, unit: 'us' }],
  ['t=-3', { label: 't', value: -3 }],
  ['x=U', { label: 'x', value: null }],
  ['x=1;@10:20;~:5', { label: 'x', warning: '@10:20', critical: '~:5' }],
  ['x=1;nonsense;;a;b', { label: 'x', warning: null, critical: null, min: null, max: null }],
  ['x=1e3B', { label: 'x', value: 1_000, unit: 'B' }],
])('performance data %s', (text, expected) => {
  const { values, omitted } = parsePerformanceData(text);
  expect(values).toEqual([{ ...plain, ...values[0], ...expected }]);
  expect(omitted).toBe(0);
});

test.each(['x', 'x=', '=1', "'x=1", 'x=1,5', 'x=abc', 'x=1e999', "''=1", 'x=1x2'])(
  'performance data %s is counted, and nothing else',
  (text) => {
    expect(parsePerformanceData(text)).toEqual({ values: [], omitted: 1 });
    expect(parsePerformanceData(`${text} good=1`).values).toMatchObject([{ label: 'good', value: 1 }]);
  },
);

test('at most fifty values, and each label once', () => {
  const { values, omitted } = parsePerformanceData(Array.from({ length: 70 }, (_, n) => `v${n}=${n}`).join(' '));
  expect([values.length, omitted]).toEqual([50, 20]);
  expect(parsePerformanceData('a=1 a=2')).toMatchObject({ values: [{ value: 1 }], omitted: 1 });
});

test('what no plugin should print is read in time that grows with its length', () => {
  for (const piece of ["' ", "''", "'a", 'a=', '= ', 'a '])
    expect(parsePerformanceData(piece.repeat(65_536 / piece.length)).values).toEqual([]);
});

test('several lines: text, further text, and performance data to the end', () => {
  const said = parseOutput(bytes('DISK OK | /=1MB;2;3\nfirst\n\nsecond | /boot=4MB\n/home=5MB\n/var=6MB\n'));
  expect(said).toMatchObject({ text: 'DISK OK', more: ['first', 'second'], omitted: 0 });
  expect(said.values.map(({ label }) => label)).toEqual(['/', '/boot', '/home', '/var']);
});

test('binary data and terminal codes are made safe', () => {
  const { text, more } = parseOutput(
    bytes('\u001B[31mRED\u001B[0m \u0000\u0007bell\r\n\u001B]0;title\u0007next\u202Eline'),
  );
  expect([text, ...more]).toEqual(['RED bell', 'next line']);
  expect(parseOutput(Buffer.from([0xff, 0xfe, 0x41, 0x00]))).toMatchObject({ text: '\uFFFD\uFFFDA' });
  expect(parseOutput(bytes('x'.repeat(60_000))).text).toHaveLength(200);
  expect(parseOutput(bytes(''))).toEqual({ text: '', more: [], values: [], omitted: 0 });
});

const values = { host: 'a.example', address: '192.0.2.1', port: '161', community: 'public', dash: '-x', empty: '' };

test.each<readonly [template: readonly string[], expected: readonly string[] | string]>([
  [
    ['-H', '{host}', '-p', '{port}'],
    ['-H', 'a.example', '-p', '161'],
  ],
  [['--url=http://{address}:{port}/'], ['--url=http://192.0.2.1:161/']],
  [['{community};rm -rf $HOME'], ['public;rm -rf $HOME']],
  [['--name={dash}'], ['--name=-x']],
  [['-C', '{dash}'], 'dash must not begin with "-" here'],
  [
    ['-C', '{empty}{dash}'],
    ['-C', '-x'],
  ],
  [['{missing}'], 'the plugin needs the value "missing": set it in values'],
  [['{constructor}'], 'the plugin needs the value "constructor": set it in values'],
  [
    ['{ not one }', '{}'],
    ['{ not one }', '{}'],
  ],
])('arguments of %j', (template, expected) => {
  expect(argumentsOf(template, values)).toEqual(expected);
});

test('a port that is not there is asked for', () => {
  expect(argumentsOf(['{port}'], { ...values, port: null })).toBe('the plugin needs a port: set port');
});

test.each([
  { a: [] },
  { a: ['check_ping'] },
  { a: ['/bin/{host}'] },
  { 'A b': ['/bin/true'] },
  { a: ['/bin/true', '\0'] },
])('%j offers no plugin', (written) => {
  expect(PluginCommands.safeParse(written).success).toBe(false);
});
