import { ask, type NameServer, nameOf, type QueryResult, type ResolverQueryOptions } from '../../dns/ask.ts';
import type { Question } from '../../dns/message.ts';
import { mostServers, ownServer } from '../../dns/probe.ts';
import type { Protocol } from '../../dns/record-types.ts';
import { portFor } from '../../dns/question.ts';
import { endpointOf } from '../../endpoint.ts';
import { within } from '../../reach.ts';
import type { GatherContext } from './context.ts';

/** The resolver that evidence about names is gathered over. */
export interface EvidenceResolver {
  /** `address` or `address:port`; null if there is none. */
  readonly address: string | null;
  /** The server that the target's check names; absent if it is the node's own. */
  readonly named?: { readonly server: string; readonly protocol: Protocol };
  /** Asks one question within a time; or, in words, why it cannot be asked. */
  readonly ask: ((question: Question, limitMs: number) => Promise<QueryResult>) | string;
}

/** The resolver that the target's check names, over the protocol that it names; otherwise the node's own. */
export async function findResolver(given: GatherContext): Promise<EvidenceResolver> {
  const { plan, context, tools } = given;
  const { environment } = tools;
  const until = (limitMs: number) => environment.clock.elapsed() + limitMs;
  const { resolver } = plan;
  if (resolver?.resolver === undefined) {
    const written = tools.ownServers().slice(0, mostServers);
    const [first] = written.flatMap((one) => ownServer(one).map((server) => ({ server, address: one })));
    if (first === undefined) return { address: null, ask: 'this node has no name server configured' };
    const { signal } = context;
    const options = { environment, signal, protocol: 'udp', recursion: true } as const;
    return {
      address: first.address,
      ask: async (question, limitMs) => ask(question, first.server, { ...options, until: until(limitMs) }),
    };
  }
  const { protocol, recursion } = resolver;
  const { name, port: written } = endpointOf(resolver.resolver);
  const port = written ?? portFor(protocol);
  const named = { server: resolver.resolver, protocol };
  const pinned = await context.gate.pin(name, { signal: context.signal });
  if (!pinned.ok) return { address: null, named, ask: pinned.failure.message };
  const { address, family } = pinned;
  const server: NameServer = { address, family, port, verify: (ends) => context.gate.verify(pinned, ends) };
  return {
    address: nameOf(server),
    named,
    async ask(question, limitMs) {
      const options: ResolverQueryOptions = {
        environment,
        signal: context.signal,
        protocol,
        recursion,
        until: until(limitMs),
      };
      if (protocol === 'udp' || protocol === 'tcp') return ask(question, server, options);
      return within({ limitMs }, context, environment, async (network) =>
        ask(question, server, { ...options, secured: { network, environment, pinned, name, port, wishes: resolver } }),
      );
    },
  };
}
