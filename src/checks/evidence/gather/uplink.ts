import { isIP } from 'node:net';
import { ask } from '../../dns/ask.ts';
import { ownServer } from '../../dns/probe.ts';
import { endpointOf } from '../../endpoint.ts';
import { gatewayTo } from '../../own-fault.ts';
import { within } from '../../reach.ts';
import type { EvidenceDocument } from '../detail.ts';
import type { GatherContext } from './context.ts';

const limitMs = 2_000;
// For the way to an address if the target has none. TEST-NET-1 (RFC 5737): nothing is sent there.
const anywhere = '192.0.2.1';

/** The node's own gateway, resolver and references at this moment. */
export async function gatherUplink(given: GatherContext): Promise<EvidenceDocument['uplink']> {
  const [resolver, references] = await Promise.all([askResolver(given), tryReferences(given)]);
  // By now the kernel has asked for the gateway, if it did not know it.
  return { gateway: await findGateway(given), resolver, references };
}

async function findGateway({ plan, context }: GatherContext) {
  const pinned = await context.gate.pin(plan.name, { family: plan.family, signal: context.signal });
  const gateway = await gatewayTo(pinned.ok ? pinned.address : isIP(plan.name) === 0 ? anywhere : plan.name);
  return gateway === null ? null : { address: gateway.address, reached: gateway.isReachable, seconds: null };
}

async function askResolver({ context, tools: { environment, ownServers } }: GatherContext) {
  const [written] = ownServers();
  const [server] = written === undefined ? [] : ownServer(written);
  if (written === undefined || server === undefined) return null;
  const until = environment.clock.elapsed() + limitMs;
  const options = { environment, signal: context.signal, protocol: 'udp' as const, recursion: true, until };
  const asked = await ask({ name: '.', type: 'NS' }, server, options);
  return { address: written, answered: asked.ok };
}

async function tryReferences({ spec, context, tools: { environment } }: GatherContext) {
  const connect = async ({ name, host }: (typeof spec.references)[number]) => {
    const endpoint = endpointOf(host);
    const reached = await within({ limitMs }, context, environment, async (network) => {
      const pinned = await network.pin(endpoint.name);
      if (!pinned.ok || endpoint.port === null) return false;
      // A refusal comes from there, too.
      return network.connect(pinned, endpoint.port, async (made) => made.ok || made.failure.code === 'refused');
    });
    return { name, reached };
  };
  return Promise.all(spec.references.map(connect));
}
