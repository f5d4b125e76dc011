import { expect, test } from 'vitest';
import { createResolver } from '#checks/resolver.ts';
import { deadline, systemClock } from '#kernel/clock.ts';
import { addressRecords, type DnsServer, dnsServer, type Script, zone } from '../../support/dns-server.ts';
import { closedPort } from '../../support/tcp-servers.ts';

const both = [4, 6] as const;
const signal = new AbortController().signal;

// Nothing here is silent; and where something is, what answers has a second for it.
const patient = { timeoutMs: 20_000, doubtMs: 60_000, limitMs: 60_000 };
const short = { timeoutMs: 1_000, doubtMs: 20, limitMs: 20_000 };

function resolverAt(
  server: Pick<DnsServer, 'address'>,
  files: Readonly<Record<string, string>> = {},
  limits: typeof patient = patient,
) {
  return createResolver({
    clock: systemClock,
    readFile: async (path) => {
      const text = files[path];
      if (text === undefined) throw Object.assign(new Error(`no file ${path}`), { code: 'ENOENT' });
      return text;
    },
    servers: [server.address],
    tries: 1,
    ...limits,
  });
}

const rootAnd =
  (script: Script): Script =>
  (name, type, count) =>
    name === '' ? zone({})(name, type, count) : script(name, type, count);

test('finds the addresses of both families, in the order of the server', async () => {
  await using server = await dnsServer(zone({ 'a.example': ['192.0.2.2', '2001:db8::1', '192.0.2.1'] }));
  const resolved = await resolverAt(server).resolve('a.example', { families: both, search: false, signal });
  expect(resolved.ok && new Set(resolved.addresses)).toEqual(new Set(['192.0.2.2', '192.0.2.1', '2001:db8::1']));
  expect(server.questions.toSorted()).toEqual(['A a.example', 'AAAA a.example']);
});

test('asks for one family alone where one is wanted', async () => {
  await using server = await dnsServer(zone({ 'a.example': ['192.0.2.1', '2001:db8::1'] }));
  const resolved = await resolverAt(server).resolve('a.example', { families: [6], search: false, signal });
  expect(resolved).toEqual({ ok: true, addresses: ['2001:db8::1'] });
  expect(server.questions).toEqual(['AAAA a.example']);
});

test('asks anew every time', async () => {
  await using server = await dnsServer(zone({ 'a.example': ['192.0.2.1'] }));
  const resolver = resolverAt(server);
  for (let round = 0; round < 2; round += 1)
    await resolver.resolve('a.example', { families: [4], search: false, signal });
  expect(server.questions).toHaveLength(2);
});

test.each<readonly [string, Script, string, string]>([
  ['a name that does not exist', rootAnd(() => ({ rcode: 'NXDOMAIN' })), 'target', 'name_not_found'],
  ['a name without an address', rootAnd(() => ({})), 'target', 'name_without_address'],
  ['a failing name server of the name', rootAnd(() => ({ rcode: 'SERVFAIL' })), 'target', 'name_server'],
  ['a name server that refuses the name', rootAnd(() => ({ rcode: 'REFUSED' })), 'target', 'name_server'],
  ['a silent name server of the name', rootAnd(() => null), 'target', 'name_timeout'],
  ['a resolver that fails at everything', () => ({ rcode: 'SERVFAIL' }), 'resolver', 'name_server'],
  ['a resolver that refuses everything', () => ({ rcode: 'REFUSED' }), 'resolver', 'name_server'],
  ['a resolver that is silent', () => null, 'resolver', 'name_timeout'],
])('says whose fault it is: %s', async (what, script, source, code) => {
  await using server = await dnsServer(script);
  const limits = what.includes('silent') ? short : patient;
  const resolved = await resolverAt(server, {}, limits).resolve('a.example', { families: both, search: false, signal });
  expect(resolved).toMatchObject({ ok: false, failure: { source, code } });
});

test('says that the resolver is at fault where nothing listens', async () => {
  const nobody = { address: `127.0.0.1:${await closedPort()}` };
  const resolved = await resolverAt(nobody).resolve('a.example', { families: both, search: false, signal });
  expect(resolved).toMatchObject({ ok: false, failure: { source: 'resolver' } });
});

test('takes what there is when one family never gets an answer', async () => {
  await using server = await dnsServer((name, type) =>
    type === 'A' ? { answers: addressRecords(name, type, ['192.0.2.1']) } : null,
  );
  const resolved = await resolverAt(server).resolve('a.example', { families: both, search: false, signal });
  expect(resolved).toEqual({ ok: true, addresses: ['192.0.2.1'] });
});

test('follows a CNAME', async () => {
  await using server = await dnsServer((name, type) => ({
    answers: [{ type: 'CNAME', name, data: 'b.example' }, ...addressRecords('b.example', type, ['192.0.2.9'])],
  }));
  const resolved = await resolverAt(server).resolve('a.example', { families: both, search: false, signal });
  expect(resolved).toEqual({ ok: true, addresses: ['192.0.2.9'] });
});

test('knows localhost without asking', async () => {
  await using server = await dnsServer(() => null);
  const resolver = resolverAt(server);
  const loopback = { ok: true, addresses: ['127.0.0.1', '::1'] };
  expect(await resolver.resolve('localhost', { families: both, search: true, signal })).toEqual(loopback);
  expect(await resolver.resolve('a.localhost', { families: both, search: true, signal })).toEqual(loopback);
  expect(await resolver.resolve('localhost', { families: [6], search: true, signal })).toMatchObject({
    addresses: ['::1'],
  });
  expect(server.questions).toEqual([]);
});

test('a hosts file that cannot be read is trouble of ours, not an empty one', async () => {
  await using server = await dnsServer(zone({ 'a.example': ['192.0.2.2'] }));
  const resolver = createResolver({
    clock: systemClock,
    readFile: async (path) => {
      throw Object.assign(new Error(`no right to read ${path}`), { code: 'EACCES' });
    },
    servers: [server.address],
    ...patient,
  });
  await expect(resolver.resolve('a.example', { families: both, search: false, signal })).rejects.toThrow(
    'no right to read /etc/hosts',
  );
});

test('reads the hosts file first', async () => {
  await using server = await dnsServer(zone({}));
  const resolver = resolverAt(server, { '/etc/hosts': '192.0.2.5 db db.internal # the database\n' });
  expect(await resolver.resolve('db', { families: both, search: true, signal })).toEqual({
    ok: true,
    addresses: ['192.0.2.5'],
  });
  expect(await resolver.resolve('db', { families: [6], search: true, signal })).toMatchObject({
    failure: { code: 'name_without_address' },
  });
  expect(server.questions).toEqual([]);
});

test('completes short names by the search list where that is wanted', async () => {
  await using server = await dnsServer(
    zone({ 'web.two.example': ['192.0.2.6'], 'web.one.example': [], 'a.b': ['192.0.2.7'] }),
  );
  const resolver = resolverAt(server, { '/etc/resolv.conf': 'search one.example two.example\noptions ndots:1\n' });
  const options = { families: [4], search: true, signal } as const;
  expect(await resolver.resolve('web', options)).toEqual({ ok: true, addresses: ['192.0.2.6'] });
  expect(await resolver.resolve('a.b', options)).toEqual({ ok: true, addresses: ['192.0.2.7'] });
  expect(await resolver.resolve('web', { ...options, search: false })).toMatchObject({
    failure: { code: 'name_not_found' },
  });
  expect(server.questions).toEqual(['A web.one.example', 'A web.two.example', 'A a.b', 'A web']);
});

test('a name that exists somewhere in the search list without an address is said to exist', async () => {
  await using server = await dnsServer(zone({ 'web.one.example': [] }));
  const resolver = resolverAt(server, { '/etc/resolv.conf': 'search one.example two.example\n' });
  expect(await resolver.resolve('web', { families: both, search: true, signal })).toMatchObject({
    failure: { source: 'target', code: 'name_without_address' },
  });
});

// In Kubernetes, with "ndots:5", every name goes through the search list first, whose domains may have broken servers.
test.each([
  ['two labels', 'search broken.example two.example\noptions ndots:5\n', { 'a.example': ['192.0.2.7'] }],
  [
    'a name of a later domain',
    'search broken.example example\noptions ndots:5\n',
    { 'a.example.example': ['192.0.2.7'] },
  ],
])('goes on behind a domain of the search list that fails: %s', async (_, conf, names) => {
  const servers = zone(names);
  await using server = await dnsServer((name, type, count) =>
    name.endsWith('.broken.example') ? { rcode: 'SERVFAIL' } : servers(name, type, count),
  );
  const resolver = resolverAt(server, { '/etc/resolv.conf': conf });
  expect(await resolver.resolve('a.example', { families: both, search: true, signal })).toEqual({
    ok: true,
    addresses: ['192.0.2.7'],
  });
});

test.each([
  ['a domain of the search list', 'web', 'web.broken.example'],
  ['the name itself', 'web.example', 'web.example'],
])('a name that is nowhere else may be where %s fails', async (_, name, failing) => {
  const servers = zone({ 'web.example.two.example': ['192.0.2.66'] });
  await using server = await dnsServer((asked, type, count) =>
    asked === failing ? { rcode: 'SERVFAIL' } : servers(asked, type, count),
  );
  const resolver = resolverAt(server, { '/etc/resolv.conf': 'search broken.example two.example\n' });
  expect(await resolver.resolve(name, { families: both, search: true, signal })).toMatchObject({
    ok: false,
    failure: { source: 'target', code: 'name_server' },
  });
});

test.each([
  ['the name by an expired deadline where the resolver answers otherwise', rootAnd(() => null), 'target'],
  ['the resolver by an expired deadline where it answers nothing', () => null, 'resolver'],
] as const)('blames %s', async (_, script, source) => {
  await using server = await dnsServer(script);
  using limit = deadline(systemClock, 900);
  const resolved = await resolverAt(server, {}, short).resolve('a.example', {
    families: both,
    search: false,
    signal: limit.signal,
  });
  expect(resolved).toMatchObject({ ok: false, failure: { source, code: 'name_timeout' } });
});

test('rejects when it is aborted', async () => {
  await using server = await dnsServer(() => null);
  const controller = new AbortController();
  const resolving = resolverAt(server).resolve('a.example', {
    families: both,
    search: false,
    signal: controller.signal,
  });
  controller.abort(new Error('enough'));
  await expect(resolving).rejects.toThrow('enough');
});
