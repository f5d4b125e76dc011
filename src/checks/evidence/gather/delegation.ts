import { isIP } from 'node:net';
import { singleLine } from '#kernel/text.ts';
import { ask, type NameServer, type QueryResult } from '../../dns/ask.ts';
import type { Delegation, Question, ResourceRecord } from '../../dns/message.ts';
import type { AuthoritativeServer, NamesEvidence } from '../detail.ts';
import type { GatherContext } from './context.ts';
import type { EvidenceResolver } from './resolver.ts';

type Zones = NamesEvidence['delegation'];

const stepMs = 1_500;
// UDP first, then TCP.
const serverMs = 3_000;
const mostAsked = 8;
const mostParents = 3;
const mostZones = 8;
const mostSteps = 8;

interface ZoneServers {
  readonly zone: string;
  readonly servers: readonly ListedServer[];
}

type ListedServer = Delegation['servers'][number];

/**
 * The zones above a name from the top down, by the resolver and by what their parents say; from the servers of the root if the resolver
 * knows none. The servers of the last zone are asked for the name themselves.
 */
export async function findDelegation(
  question: Question,
  resolver: EvidenceResolver,
  given: GatherContext,
): Promise<Zones> {
  const known = await zonesByResolver(question.name, resolver);
  const zones = await extend(known, question, given);
  const last = zones.at(-1);
  if (last === undefined) return [];
  const above = zones.slice(0, -1).map(({ zone, servers }) => ({ zone, servers: servers.slice(0, 13).map(unasked) }));
  const asked = await Promise.all(last.servers.slice(0, mostAsked).map((server) => askServer(question, server, given)));
  return [...above.slice(-mostZones), { zone: last.zone, servers: asked }];
}

function unasked({ name, addresses }: ListedServer): AuthoritativeServer {
  return { name, address: addresses[0] ?? null, answer: null, failure: null, authoritative: false };
}

async function zonesByResolver(name: string, { ask }: EvidenceResolver): Promise<readonly ZoneServers[]> {
  if (typeof ask === 'string') return [];
  const labels = name.split('.');
  const names = labels.map((_, index) => labels.slice(index).join('.')).slice(-mostZones);
  const found = await Promise.all(
    names.map(async (zone) => {
      const asked = await ask({ name: zone, type: 'NS' }, stepMs);
      const isAlias = asked.ok && asked.message.records.some(({ type }) => type === 'CNAME');
      if (!asked.ok || isAlias || asked.message.records.length === 0) return [];
      const servers = asked.message.records.map(({ data }) => ({ name: data.replace(/\.$/, ''), addresses: [] }));
      return [{ zone, servers }];
    }),
  );
  return found.flat().toReversed();
}

// A zone may list other servers than its parent does; those of the parent are what resolvers use.
async function extend(
  known: readonly ZoneServers[],
  question: Question,
  given: GatherContext,
): Promise<readonly ZoneServers[]> {
  const last = known.at(-1);
  const parent = known.at(-2);
  if (last !== undefined && parent === undefined) return known;
  const zones = known.slice(0, -1);
  const root = given.tools.rootServers.map((address) => ({ name: address, addresses: [address] }));
  let servers: readonly ListedServer[] = parent?.servers ?? root;
  for (let step = 0; step < mostSteps; step += 1) {
    const referral = await askParents(question, servers, given);
    const isDeeper = referral !== null && isBelow(referral.zone, zones.at(-1)?.zone ?? '');
    if (!isDeeper || !isBelow(question.name, referral.zone, true)) break;
    zones.push(referral);
    servers = referral.servers;
  }
  if (last === undefined) return zones;
  const found = zones.at(-1);
  if (found === undefined || !isBelow(found.zone, last.zone, true)) return [...zones, last];
  if (found.zone !== last.zone) return zones;
  // What the zone itself lists besides is asked as well.
  const listed = new Set(found.servers.map((server) => server.name));
  const more = last.servers.filter((server) => !listed.has(server.name));
  return [...zones.slice(0, -1), { zone: last.zone, servers: [...found.servers, ...more] }];
}

function isBelow(name: string, zone: string, orSame = false): boolean {
  if (name === zone) return orSame;
  return zone === '' || name.endsWith(`.${zone}`);
}

async function askParents(
  question: Question,
  servers: readonly ListedServer[],
  given: GatherContext,
): Promise<Delegation | null> {
  const rest = new AbortController();
  const { context } = given;
  const signal = AbortSignal.any([context.signal, rest.signal]);
  const limited = { ...given, context: { ...context, signal } };
  const asked = servers.slice(0, mostParents).map(async (server): Promise<Delegation> => {
    const address = await addressOf(server, limited);
    if (typeof address === 'string') throw new Error(address);
    const answer = await askOnce(question, address, limited, { recursion: false });
    if (!answer.ok || answer.message.delegation === undefined) throw new Error('no referral');
    return answer.message.delegation;
  });
  try {
    return await Promise.any(asked);
  } catch (error) {
    context.signal.throwIfAborted();
    // None of them refers to a deeper zone: the walk ends here.
    if (error instanceof AggregateError) return null;
    throw error;
  } finally {
    rest.abort();
    await Promise.allSettled(asked);
  }
}

async function askServer(question: Question, server: ListedServer, given: GatherContext): Promise<AuthoritativeServer> {
  const peer = await addressOf(server, given);
  const name = server.name.slice(0, 260);
  if (typeof peer === 'string') return { name, address: null, answer: null, failure: peer, authoritative: false };
  const byUdp = await askOnce(question, peer, given, { recursion: false, limitMs: serverMs / 2 });
  const asked = byUdp.ok ? byUdp : await askOnce(question, peer, given, { recursion: false, protocol: 'tcp' });
  const result = asked.ok ? asked : byUdp;
  return {
    name,
    address: peer.address,
    answer: result.ok ? dataOf(result.message.records) : null,
    failure: failureOf(result),
    authoritative: result.ok && result.message.authoritative,
    rcode: result.ok ? result.message.rcode : null,
  };
}

// Under the gate, like every address that a node did not choose itself. Text: why it cannot be asked.
async function addressOf({ name, addresses }: ListedServer, given: GatherContext): Promise<NameServer | string> {
  const { context, tools } = given;
  const glue = addresses.find((address) => isIP(address) === 4) ?? addresses[0];
  const pinned = await context.gate.pin(glue ?? name, { signal: context.signal });
  if (!pinned.ok) return pinned.failure.message;
  const { address, family } = pinned;
  return { address, family, port: tools.namePortOf(address), verify: (ends) => context.gate.verify(pinned, ends) };
}

interface QuestionOptions {
  readonly recursion: boolean;
  readonly protocol?: 'udp' | 'tcp';
  readonly limitMs?: number;
}

async function askOnce(
  question: Question,
  server: NameServer,
  { context, tools: { environment } }: GatherContext,
  { recursion, protocol = 'udp', limitMs = stepMs }: QuestionOptions,
): Promise<QueryResult> {
  const until = environment.clock.elapsed() + limitMs;
  return ask(question, server, { environment, signal: context.signal, protocol, recursion, until });
}

/** The data of records, those of aliases left out if there is more. */
export function dataOf(records: readonly ResourceRecord[]): string[] {
  const proper = records.filter(({ type }) => type !== 'CNAME');
  return (proper.length > 0 ? proper : records).slice(0, 20).map(({ data }) => singleLine(data, 300));
}

export function failureOf(result: QueryResult): string | null {
  return result.ok ? null : result.failure.message;
}
