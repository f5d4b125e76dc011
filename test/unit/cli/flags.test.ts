import { expect, test } from 'vitest';
import { checkOf, CheckSpec, checkTypeNames, type CheckTypeName } from '#checks/index.ts';
import { flagsOf, optionsOf } from '#cli/shared/flags.ts';

function specOf(type: CheckTypeName, host: string, words: Readonly<Record<string, readonly string[]>>) {
  const flags = flagsOf(checkOf(type).Spec);
  const given = Object.entries(words).map(([name, list]) => {
    const flag = flags.find((one) => one.name === name);
    if (flag === undefined) throw new Error(`no flag --${name} of ${type}`);
    return { flag, words: list };
  });
  return CheckSpec.parse({ type, host, ...optionsOf(given) });
}

test.each<{ type: CheckTypeName; host: string; words: Record<string, readonly string[]>; options: object }>([
  {
    type: 'ping',
    host: 'a.example',
    words: { count: ['10'], timeout: ['2s'], family: ['6'] },
    options: { count: 10, timeout: 2_000, family: 6 },
  },
  { type: 'ping', host: 'a.example', words: { size: ['1KiB'] }, options: { size: 1_024 } },
  {
    type: 'http',
    host: 'a.example',
    words: { method: ['HEAD'], 'expect-status': ['200-299'] },
    options: { method: 'HEAD', expect: { status: [{ from: 200, to: 299 }] } },
  },
  {
    type: 'http',
    host: 'a.example',
    words: { 'expect-status': ['204', '301'] },
    options: {
      expect: {
        status: [
          { from: 204, to: 204 },
          { from: 301, to: 301 },
        ],
      },
    },
  },
  {
    type: 'http',
    host: 'a.example',
    words: { headers: ['x-a=1', 'x-b: two: 2'] },
    options: { headers: { 'x-a': '1', 'x-b': 'two: 2' } },
  },
  {
    type: 'http',
    host: 'a.example',
    words: { 'no-tls-verify': [], 'tls-server-name': ['b.example'] },
    options: { tls: { verify: false, server_name: 'b.example' } },
  },
  {
    type: 'http',
    host: 'a.example',
    words: { 'expect-body-json-path': ['$.a'], 'expect-body-json-equals': ['5'] },
    options: { expect: { body: { json: [{ path: '$.a', equals: 5 }] } } },
  },
  {
    type: 'http',
    host: 'a.example',
    words: { 'expect-body-json-path': ['$.a'], 'expect-body-json-exists': ['false'] },
    options: { expect: { body: { json: [{ path: '$.a', exists: false }] } } },
  },
  { type: 'http', host: 'a.example', words: { body: ['5'], bearer: ['123'] }, options: { body: '5', bearer: '123' } },
  { type: 'tcp', host: 'a.example:443', words: { tls: [] }, options: { tls: true } },
  {
    type: 'tcp',
    host: 'a.example:443',
    words: { tls: [], 'tls-min-version': ['TLSv1.3'] },
    options: { tls: { min_version: 'TLSv1.3', verify: true } },
  },
  {
    type: 'tcp',
    host: 'a.example:25',
    words: { send: ['EHLO x\\r\\n'], 'expect-regex': ['^250'] },
    options: { send: 'EHLO x\\r\\n', expect: { regex: '^250' } },
  },
  { type: 'ping', host: 'a.example', words: { 'dont-fragment': [] }, options: { dont_fragment: true } },
  {
    type: 'tcp',
    host: 'a.example:25',
    words: { preset: ['smtp'], starttls: [] },
    options: { preset: 'smtp', starttls: true },
  },
  { type: 'udp', host: 'a.example:123', words: { send: ['ntp'], tries: ['1'] }, options: { send: 'ntp', tries: 1 } },
  { type: 'udp', host: 'a.example:99', words: { 'send-hex': ['00'] }, options: { send: { hex: '00' } } },
  {
    type: 'dns',
    host: 'a.example',
    words: { 'no-recursion': [], 'expect-a': ['192.0.2.1', '192.0.2.2'] },
    options: { recursion: false, expect: { match: 'exact', A: ['192.0.2.1', '192.0.2.2'] } },
  },
])('$words for $type are $options', ({ type, host, words, options }) => {
  expect(specOf(type, host, words)).toMatchObject({ type, ...options });
});

// A dialogue has no words on a command line.
const withoutFlag = ['type', 'host', 'steps'];

test('every option of every check type has a flag with a description, and no name stands twice', () => {
  for (const type of checkTypeNames) {
    const { Spec } = checkOf(type);
    const flags = flagsOf(Spec);
    const names = flags.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(new Set(flags.map(({ path }) => path[0]))).toEqual(
      new Set(Object.keys(Spec.shape).filter((key) => !withoutFlag.includes(key))),
    );
    for (const flag of flags)
      expect(flag, `${type} --${flag.name}`).toMatchObject({ description: expect.stringMatching(/\w/) });
    for (const name of names) expect(name).toMatch(/^[a-z0-9]+(?:-[a-z0-9]+)*$/);
  }
});

test('the default that help shows is the one that holds, as it is written', () => {
  const shown = Object.fromEntries(flagsOf(checkOf('ping').Spec).map(({ name, default: preset }) => [name, preset]));
  expect(shown).toMatchObject({ count: '4', interval: '500ms', timeout: '3s', size: '56B', family: null, ttl: null });
});
