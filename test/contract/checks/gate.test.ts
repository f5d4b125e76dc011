import { connect, createServer, type Server } from 'node:net';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import type { Policy } from '#checks/address.ts';
import { createGate, createGates } from '#checks/gate.ts';
import { createResolver, type Resolver } from '#checks/resolver.ts';
import { ownAddresses } from '#checks/own-addresses.ts';
import { systemClock } from '#kernel/clock.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { addressRecords, dnsServer, type Script, zone } from '../../support/dns-server.ts';

const signal = new AbortController().signal;

async function gateAt(script: Script, policy: Policy, lists: { allow?: string[]; deny?: string[] } = {}) {
  const server = await dnsServer(script);
  const resolver = createResolver({
    clock: systemClock,
    readFile: async () => 'search inside.example\n',
    servers: [server.address],
    timeoutMs: 20_000,
    tries: 1,
  });
  const gate = createGate({
    policy,
    allow: [],
    deny: [],
    ...lists,
    resolver,
    clock: systemClock,
    ownAddresses: () => ['192.31.0.7'],
  });
  return { gate, server, [Symbol.asyncDispose]: async () => server[Symbol.asyncDispose]() };
}

const forbidden = { ok: false, failure: { source: 'node', code: 'forbidden' } };

test('pins the first IPv4 address and tells all addresses and the time', async () => {
  await using at = await gateAt(zone({ 'a.example': ['1.1.1.2', '1.1.1.1', '2606:4700::1'] }), 'public');
  const pinned = await at.gate.pin('a.example', { signal });
  expect(pinned).toMatchObject({ ok: true, address: '1.1.1.2', family: 4 });
  expect(pinned.ok && pinned.addresses).toHaveLength(3);
  expect(pinned.seconds).toBeGreaterThan(0);
  expect(await at.gate.pin('a.example', { family: 6, signal })).toMatchObject({ address: '2606:4700::1', family: 6 });
});

test('own addresses count as they are now, and each policy by itself', async () => {
  const own = ['192.31.0.7'];
  const gateFor = createGates({
    allow: [],
    deny: [],
    resolver: { resolve: async () => ({ ok: true, addresses: [] }) },
    clock: systemClock,
    ownAddresses: () => own,
  });
  const pin = async (host: string, policy: Policy) => (await gateFor(policy).pin(host, { signal })).ok;
  expect(await pin('10.0.0.1', 'private')).toBe(true);
  expect(await pin('10.0.0.1', 'public')).toBe(false);
  expect(await pin('10.0.0.1', 'private')).toBe(true);
  expect(await pin('192.31.0.8', 'public')).toBe(true);
  own.push('192.31.0.8');
  expect(await pin('192.31.0.8', 'public')).toBe(false);
  expect(await pin('224.0.0.1', 'private')).toBe(false);
  expect(await pin('224.0.0.1', 'private')).toBe(false);
});

test('pins IPv6 where there is nothing else', async () => {
  await using at = await gateAt(zone({ 'a.example': ['2606:4700::1'] }), 'public');
  expect(await at.gate.pin('a.example', { signal })).toMatchObject({ ok: true, family: 6 });
  expect(await at.gate.pin('a.example', { family: 4, signal })).toMatchObject({
    failure: { code: 'name_without_address' },
  });
});

test('takes addresses without asking anybody and in no time', async () => {
  await using at = await gateAt(() => null, 'private');
  expect(await at.gate.pin('127.0.0.1', { signal })).toEqual({
    ok: true,
    address: '127.0.0.1',
    family: 4,
    addresses: ['127.0.0.1'],
    seconds: 0,
  });
  expect(await at.gate.pin('::1', { family: 4, signal })).toMatchObject({
    failure: { source: 'node', code: 'unsupported' },
  });
  expect(at.server.questions).toEqual([]);
});

test.each([
  ['a private address', ['10.0.0.1']],
  ['one private address among public ones', ['1.1.1.1', '10.0.0.1']],
  ['a private address of the other family', ['1.1.1.1', 'fd00::1']],
  ['a loopback address inside IPv6', ['1.1.1.1', '64:ff9b::7f00:1']],
  ["the node's own address", ['192.31.0.7']],
])('refuses a name with %s under public and says nothing about it', async (_, addresses) => {
  await using at = await gateAt(zone({ 'a.example': addresses }), 'public');
  const refused = await at.gate.pin('a.example', { signal });
  expect(refused).toMatchObject(forbidden);
  for (const address of addresses) expect(JSON.stringify(refused)).not.toContain(address);
});

test('refuses a CNAME to a private address', async () => {
  const script: Script = (name, type) => ({
    answers: [
      { type: 'CNAME', name, data: 'db.inside.example' },
      ...addressRecords('db.inside.example', type, ['10.0.0.5']),
    ],
  });
  await using at = await gateAt(script, 'public');
  expect(await at.gate.pin('a.example', { signal })).toMatchObject(forbidden);
});

test('a name that turns private after it was judged stays where it was pinned', async () => {
  const script: Script = (name, type, count) => ({
    answers: addressRecords(name, type, [count === 1 ? '1.1.1.1' : '127.0.0.1']),
  });
  await using at = await gateAt(script, 'public');
  const pinned = await at.gate.pin('a.example', { family: 4, signal });
  expect(pinned).toMatchObject({ ok: true, address: '1.1.1.1' });
  expect(at.server.questions).toEqual(['A a.example']);
  expect(await at.gate.pin('a.example', { family: 4, signal })).toMatchObject(forbidden);
});

test('private opens private names, loopback, and the search list, but not multicast', async () => {
  const records = { 'a.inside.example': ['10.0.0.1'], 'm.example': ['224.0.0.1'] };
  await using at = await gateAt(zone(records), 'private');
  expect(await at.gate.pin('a', { signal })).toMatchObject({ ok: true, address: '10.0.0.1' });
  expect(await at.gate.pin('localhost', { signal })).toMatchObject({ ok: true, address: '127.0.0.1' });
  expect(await at.gate.pin('m.example', { signal })).toMatchObject({ ok: false, failure: { source: 'target' } });
  await using strangers = await gateAt(zone(records), 'public');
  expect(await strangers.gate.pin('a', { signal })).toMatchObject({ failure: { code: 'name_not_found' } });
  expect(await strangers.gate.pin('localhost', { signal })).toMatchObject(forbidden);
});

test('the lists of the operator stand above the policy', async () => {
  const records = zone({ 'a.example': ['10.0.0.1'], 'b.example': ['10.9.0.1'], 'c.example': ['1.1.1.1'] });
  await using at = await gateAt(records, 'public', { allow: ['10.0.0.0/16'], deny: ['1.1.1.0/24'] });
  expect(await at.gate.pin('a.example', { signal })).toMatchObject({ ok: true });
  expect(await at.gate.pin('b.example', { signal })).toMatchObject(forbidden);
  expect(await at.gate.pin('c.example', { signal })).toMatchObject(forbidden);
});

test('passes on what the resolver says, with the time it took', async () => {
  await using at = await gateAt(zone({}), 'public');
  const refused = await at.gate.pin('a.example', { signal });
  expect(refused).toMatchObject({ ok: false, failure: { source: 'target', code: 'name_not_found' } });
  expect(refused.seconds).toBeGreaterThan(0);
});

test('rejects when it is aborted', async () => {
  await using at = await gateAt(() => null, 'public');
  const controller = new AbortController();
  const pinning = at.gate.pin('a.example', { signal: controller.signal });
  controller.abort(new Error('enough'));
  await expect(pinning).rejects.toThrow('enough');
});

test.each(['0.0.0.0', '0.1.2.3', '224.0.0.1', '240.0.0.1', '255.255.255.255', '::', 'ff02::1'])(
  'a name of the operator that resolves to %s is the target itself: so an expired domain looks',
  async (address) => {
    await using at = await gateAt(zone({ 'gone.example': [address] }), 'private');
    expect(await at.gate.pin('gone.example', { signal })).toMatchObject({
      ok: false,
      failure: { source: 'target', code: 'name_without_address', message: expect.stringContaining(address) },
    });
    // The operator wrote the address itself: that is no news of any target.
    expect(await at.gate.pin(address, { signal })).toMatchObject(forbidden);
  },
);

test('it is so on a node that reaches public addresses only, and not for strangers', async () => {
  const resolver: Resolver = { resolve: async () => ({ ok: true, addresses: ['0.0.0.0'] }) };
  const gates = createGates({ resolver, clock: systemClock, allow: [], deny: [], ownAddresses: () => [] });
  expect(await gates('public', 'private').pin('gone.example', { signal })).toMatchObject({
    failure: { source: 'target', code: 'name_without_address' },
  });
  expect(await gates('public').pin('gone.example', { signal })).toMatchObject(forbidden);
});

const noResolver: Resolver = { resolve: async () => ({ ok: true, addresses: [] }) };
const gates = createGates({ resolver: noResolver, clock: systemClock, allow: [], deny: [], ownAddresses: () => [] });

test('verifies that a connection ended at the pin, and not at this machine under public', async () => {
  const gate = gates('public');
  const pinned = { ok: true, address: '1.1.1.1', family: 4, addresses: ['1.1.1.1'], seconds: 0 } as const;
  expect(gate.verify(pinned, { remoteAddress: '1.1.1.1', localAddress: '192.0.2.1' })).toBeNull();
  expect(gate.verify(pinned, { remoteAddress: '::ffff:1.1.1.1', localAddress: '192.0.2.1' })).toBeNull();
  expect(gate.verify(pinned, { remoteAddress: '127.0.0.1', localAddress: '192.0.2.1' })).toMatchObject({
    code: 'forbidden',
  });
  expect(gate.verify(pinned, { localAddress: '1.1.1.1' })).toMatchObject({ source: 'node', code: 'forbidden' });
  expect(gate.verify(pinned, { remoteAddress: '1.1.1.1', localAddress: '1.1.1.1' })).toMatchObject({
    code: 'forbidden',
  });
});

test('a peer that is gone again was the pinned address: it was asked for no other', () => {
  const pinned = { ok: true, address: '1.1.1.1', family: 4, addresses: ['1.1.1.1'], seconds: 0 } as const;
  expect(gates('public').verify(pinned, { localAddress: '192.0.2.1' })).toBeNull();
  expect(gates('private').verify(pinned, {})).toBeNull();
});

test('verifies a real socket', async () => {
  const server: Server = createServer((socket) => socket.on('error', () => {})).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const bound = server.address();
  const socket = connect(typeof bound === 'object' && bound !== null ? bound.port : 0, '127.0.0.1');
  await once(socket, 'connect');
  const pinned = { ok: true, address: '127.0.0.1', family: 4, addresses: ['127.0.0.1'], seconds: 0 } as const;
  expect(gates('private').verify(pinned, socket)).toBeNull();
  expect(gates('public').verify(pinned, socket)).toMatchObject({ code: 'forbidden' });
  socket.destroy();
  server.close();
  await once(server, 'close');
});

test('a list with a wrong range is refused at once', () => {
  const options = { resolver: noResolver, clock: systemClock, deny: [], ownAddresses: () => [] };
  expect(() => createGates({ ...options, allow: ['10.0.0.0/64'] })).toThrow('is not a range');
});

test("reads the machine's own addresses, again every ten seconds", async () => {
  const clock = new FakeClock();
  const own = ownAddresses(clock, ['203.0.113.9']);
  const first = own();
  expect(first).toContain('127.0.0.1');
  expect(first).toContain('203.0.113.9');
  expect(own()).toBe(first);
  await clock.advance(10_000);
  expect(own()).not.toBe(first);
});
