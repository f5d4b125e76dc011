import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createGate } from '#checks/gate.ts';
import { CheckSpec, type Outcome } from '#checks/index.ts';
import { systemClock } from '#kernel/clock.ts';
import { systemRandom } from '#kernel/random.ts';
import { type ResettingServer, resettingServer } from '../../support/resetting-server.ts';
import { startProber } from '../../support/probe-once.ts';

let server: ResettingServer;

beforeAll(async () => {
  server = await resettingServer();
});

afterAll(async () => server[Symbol.asyncDispose]());

async function check(spec: object): Promise<Outcome> {
  const read = CheckSpec.parse(spec);
  const resolver = { resolve: async () => ({ ok: true as const, addresses: ['127.0.0.1'] }) };
  const ownAddresses = () => [];
  const gate = createGate({
    policy: 'public',
    allow: ['127.0.0.1'],
    deny: [],
    resolver,
    clock: systemClock,
    ownAddresses,
  });
  const prober = await startProber(read.type, {
    clock: systemClock,
    random: systemRandom,
    localAddress: { 4: '127.0.0.7' },
  });
  try {
    return await prober.probe(read, { gate, signal: new AbortController().signal });
  } finally {
    await prober.close();
  }
}

function inShort(outcome: Outcome): string {
  return outcome.status === 'up' ? 'up' : `${outcome.status} ${outcome.failure.source} ${outcome.failure.code}`;
}

const host = () => `a.example:${server.port}`;

describe.each([
  ['a tcp check, which asks for no more than that, is up', 'up', () => ({ type: 'tcp', host: host() })],
  [
    'a tcp check that expects an answer is reset',
    'down target reset',
    () => ({ type: 'tcp', host: host(), expect: 'hello' }),
  ],
  ['a tcp check that asks for TLS gets none', 'down target tls', () => ({ type: 'tcp', host: host(), tls: true })],
  ['an http check is reset', 'down target reset', () => ({ type: 'http', host: `http://${host()}` })],
  ['an https check gets no TLS', 'down target tls', () => ({ type: 'http', host: `https://${host()}` })],
  [
    'a tcp check that greets as SMTP does is reset',
    'down target reset',
    () => ({ type: 'tcp', host: host(), preset: 'smtp' }),
  ],
  ['a tls check gets no TLS', 'down target tls', () => ({ type: 'tls', host: host() })],
  ['a tls check gets no STARTTLS', 'down target reset', () => ({ type: 'tls', host: host(), starttls: 'smtp' })],
  ['a grpc check gets no TLS', 'down target tls', () => ({ type: 'grpc', host: host(), tls: true })],
  ['a websocket check is reset', 'down target reset', () => ({ type: 'websocket', host: `ws://${host()}` })],
  ['a websocket check gets no TLS', 'down target tls', () => ({ type: 'websocket', host: `wss://${host()}` })],
  [
    'a dns check over TCP is reset',
    'down target reset',
    () => ({ type: 'dns', host: 'a.example', resolver: host(), protocol: 'tcp', record: 'A' }),
  ],
])('of a target that accepts and resets, %s', (_, expected, spec) => {
  test('round after round', async () => {
    const seen = new Set<string>();
    for (let round = 0; round < 40; round += 1) seen.add(inShort(await check(spec())));
    expect([...seen]).toEqual([expected]);
  });

  test('however late the event loop is', async () => {
    const outcome = await server.whileLate(async () => check(spec()));
    expect(inShort(outcome)).toBe(expected);
    if (spec().type !== 'dns') expect(outcome.phases.connect).toBeGreaterThan(0);
  });
});

// An error that HTTP/2 meets in writing is kept by Node: then the connection has only ended.
test('a grpc check of it is down as well, reset or closed', async () => {
  const seen = new Set<string>();
  for (let round = 0; round < 40; round += 1) seen.add(inShort(await check({ type: 'grpc', host: host() })));
  const late = await server.whileLate(async () => check({ type: 'grpc', host: host() }));
  expect(inShort(late)).toBe('down target reset');
  for (const outcome of seen) expect(outcome).toMatch(/^down target (?:reset|closed)$/);
});

test('the handshake has the time that the kernel took, also where the reset was there before us', async () => {
  const outcome = await server.whileLate(async () => check({ type: 'tcp', host: host() }));
  expect(outcome.detail).toMatchObject({ timed_by: process.platform === 'linux' ? 'kernel' : 'clock' });
});
