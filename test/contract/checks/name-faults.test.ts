import { expect, test } from 'vitest';
import { probe } from '#checks/dns/probe.ts';
import { Spec } from '#checks/dns/spec.ts';
import { createResolver } from '#checks/resolver.ts';
import { systemClock } from '#kernel/clock.ts';
import { systemRandom } from '#kernel/random.ts';
import { dnsServer, type Reply, zone } from '../../support/dns-server.ts';
import { literalGate } from '../../support/literal-gate.ts';

const signal = new AbortController().signal;
const host = 'www.example.com';
const codes = ['SERVFAIL', 'REFUSED', 'NOTIMP', 'FORMERR'] as const;
const roots: readonly (readonly [string, Reply | null, string])[] = [
  ['knows the servers of the root', zone({})('', 'NS', 1), 'target'],
  ['answers for the root without records', {}, 'target'],
  ['fails for the root too', { rcode: 'SERVFAIL' }, 'resolver'],
  ['refuses the root too', { rcode: 'REFUSED' }, 'resolver'],
];

// The resolver is what `http` and all other checks find names by.
test.each(codes.flatMap((rcode) => roots.map(([what, root, source]) => ({ rcode, what, root, source }))))(
  'a name server that answers $rcode and $what: dns and http agree that it is the fault of $source',
  async ({ rcode, root, source }) => {
    await using server = await dnsServer((name) => (name === '' ? root : { rcode }));
    const resolver = createResolver({
      clock: systemClock,
      readFile: async (path) => {
        throw Object.assign(new Error(`no file ${path}`), { code: 'ENOENT' });
      },
      servers: [server.address],
      tries: 1,
      timeoutMs: 20_000,
      limitMs: 60_000,
    });
    const resolved = await resolver.resolve(host, { families: [4, 6], search: false, signal });
    expect(resolved).toMatchObject({ ok: false, failure: { source, code: 'name_server' } });
    const environment = { clock: systemClock, random: systemRandom, localAddress: {} };
    const spec = Spec.parse({ type: 'dns', host, timeout: '20s' });
    const outcome = await probe(spec, { gate: literalGate({}), signal }, environment, () => [server.address]);
    expect(outcome).toMatchObject({
      status: source === 'target' ? 'down' : 'unknown',
      failure: { source, code: 'name_server' },
    });
  },
);
