import { Resolver } from 'node:dns';
import { isIP } from 'node:net';
import { type ProbeEnvironment, type ProbeContext, startPlain } from '../check.ts';
import { endpointOf } from '../endpoint.ts';
import { failed, failure, type Outcome } from '../outcome.ts';
import { reach, within } from '../reach.ts';
import { nameFaultOf } from '../name-fault.ts';
import { ask, type QueryResult, type ResolverQueryOptions, nameOf, type NameServer } from './ask.ts';
import type { Detail } from './detail.ts';
import { conclude } from './conclusion.ts';
import type { Question } from './message.ts';
import type { Spec } from './spec.ts';
import { askedName, askedTypes, controlQueryMs, portFor } from './question.ts';

/** The node's own name servers as `dns.getServers()` writes them, in the order they are asked. */
export type OwnServers = () => readonly string[];

/** Those of `/etc/resolv.conf`, read anew each time. */
export const systemServers: OwnServers = () => new Resolver().getServers();

export const start = startPlain(probe);

/** Asks for the spec's records: the server that the spec names, or the node's own in turn. */
export async function probe(
  spec: Spec,
  context: ProbeContext,
  environment: ProbeEnvironment,
  ownServers: OwnServers = systemServers,
): Promise<Outcome<Detail>> {
  const { protocol, recursion, timeout } = spec;
  const wantsAuthentic = spec.expect?.authentic === true;
  const options = (signal: AbortSignal) => {
    const until = environment.clock.elapsed() + timeout;
    return { environment, signal, protocol, recursion, wantsAuthentic, until };
  };
  const questions = askedTypes(spec).map((type) => ({ name: askedName(spec.host), type }));
  if (spec.resolver === undefined) return queryOwnResolver(spec, questions, options(context.signal), ownServers());
  const { name, port } = endpointOf(spec.resolver);
  return reach<Detail>({ name, limitMs: timeout, covers: 'name' }, context, environment, {
    async probe({ pinned, phases, signal }) {
      const { address, family } = pinned;
      const server: NameServer = {
        address,
        family,
        port: port ?? portFor(protocol),
        verify: (ends) => context.gate.verify(pinned, ends),
      };
      const askOptions = options(signal);
      const conclusionOf = async (how: ResolverQueryOptions) =>
        conclude(spec, await Promise.all(questions.map((question) => ask(question, server, how))), phases);
      if (protocol === 'udp' || protocol === 'tcp') return conclusionOf(askOptions);
      return within({ limitMs: timeout }, context, environment, (network) => {
        const secured = { network, environment, pinned, name, port: server.port, wishes: spec };
        return conclusionOf({ ...askOptions, secured });
      });
    },
    // If the name server's own name is, is none of the records that were asked for.
    unreached: ({ failure }) => failed(failure),
  });
}

async function queryOwnResolver(
  spec: Spec,
  questions: readonly Question[],
  options: ResolverQueryOptions,
  written: readonly string[],
): Promise<Outcome<Detail>> {
  options.signal.throwIfAborted();
  const servers = written.slice(0, mostServers).flatMap(ownServer);
  if (servers.length === 0) return failed(failure('node', 'local', 'this node has no name server configured'));
  const asked = await Promise.all(questions.map((question) => queryInTurn(question, servers, options)));
  const answersControl = asked.some(isUnclear)
    ? await isAlive(servers, {
        ...options,
        recursion: true,
        until: options.environment.clock.elapsed() + controlQueryMs(spec.timeout),
      })
    : false;
  return conclude(
    spec,
    asked.map((one) => attributeFailure(one, answersControl)),
    {},
  );
}

// As many as resolv.conf(5) takes.
export const mostServers = 3;

// The addresses are the node's own business: they may be private or link-local with a zone, and no gate judges them.
export function ownServer(written: string): readonly NameServer[] {
  const [, six, four, port = '53'] = /^(?:\[(.*)\]|([\d.]+)):(\d+)$/.exec(written) ?? [];
  const address = six ?? four ?? written;
  const family = isIP(address);
  if (family !== 4 && family !== 6) return [];
  return [{ address, family, port: Number(port), verify: () => null }];
}

// Like the system's resolver: the next server is asked if one does not answer or could not find out.
async function queryInTurn(
  question: Question,
  servers: readonly NameServer[],
  options: ResolverQueryOptions,
): Promise<QueryResult> {
  const { clock } = options.environment;
  let best: QueryResult | null = null;
  for (const [index, server] of servers.entries()) {
    const now = clock.elapsed();
    const asked = await ask(question, server, {
      ...options,
      until: now + (options.until - now) / (servers.length - index),
    });
    if (asked.ok && !helpless.has(asked.message.rcode)) return asked;
    if (best === null || asked.ok || !best.ok) best = asked;
  }
  if (best === null) throw new RangeError('no name server to ask');
  return best;
}

const helpless: ReadonlySet<string> = new Set(['SERVFAIL', 'REFUSED', 'NOTIMP', 'FORMERR']);

// What is no answer may be the fault of the node's resolver or of the servers it asked for the zone: as for names in `resolver.ts`.
function isUnclear(asked: QueryResult): boolean {
  return asked.ok ? helpless.has(asked.message.rcode) : asked.failure.source === 'target';
}

/** The control question: a resolver that can tell the servers of the root works. As in `resolver.ts`, an empty answer is one. */
async function isAlive(servers: readonly NameServer[], options: ResolverQueryOptions): Promise<boolean> {
  const asked = await Promise.all(servers.map((server) => ask({ name: '.', type: 'NS' }, server, options)));
  return asked.some((one) => one.ok && one.message.rcode === 'NOERROR');
}

function attributeFailure(asked: QueryResult, answersControl: boolean): QueryResult {
  const server = nameOf(asked.server);
  const unclear = isUnclear(asked);
  const fault =
    unclear && answersControl ? 'the zone is at fault: other names resolve' : "this node's resolver is at fault";
  const source = nameFaultOf(unclear && answersControl);
  if (!asked.ok) {
    if (asked.failure.source !== 'target') return asked;
    const code = asked.failure.code === 'timeout' ? 'name_timeout' : 'name_server';
    return { ...asked, failure: failure(source, code, `${asked.failure.message}; ${fault}`) };
  }
  if (!helpless.has(asked.message.rcode)) return asked;
  const text = `${server} answered ${asked.message.rcode}; ${fault}`;
  return { ...asked, blamed: failure(source, 'name_server', text) };
}
