import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { orAbort } from '#kernel/clock.ts';
import { unlessMissing } from '#kernel/files.ts';
import { singleLine } from '#kernel/text.ts';
import { ask, type NameServer, type QueryResult } from '../../dns/ask.ts';
import type { Question } from '../../dns/message.ts';
import { mostServers, ownServer } from '../../dns/probe.ts';
import { Spec as DomainSpec } from '../../domain/spec.ts';
import { parseHosts } from '../../hosts-file.ts';
import { within } from '../../reach.ts';
import type { NamesEvidence } from '../detail.ts';
import { type GatherContext, PartUnavailableError } from './context.ts';
import { dataOf, failureOf, findDelegation } from './delegation.ts';

const questionMs = 2_500;
const registrationMs = 5_000;

/** What the node's resolver answers, and each authoritative server asked directly; null if there is no name. */
export async function gatherNames(given: GatherContext): Promise<NamesEvidence | null> {
  const { plan } = given;
  const question = plan.question ?? { name: plan.name, type: plan.family === 6 ? ('AAAA' as const) : ('A' as const) };
  if (isIP(question.name) !== 0) return null;
  if (plan.question === undefined) {
    if (!question.name.includes('.')) throw new PartUnavailableError(`${question.name} is no domain name`);
    const hosts = parseHosts((await unlessMissing(readFile('/etc/hosts', 'utf8'))) ?? '');
    if (hosts.has(question.name)) throw new PartUnavailableError(`${question.name} is in /etc/hosts`);
  }
  const servers = ownServers(given);
  const [first] = servers;
  const asked = await askOwn(question, servers, given);
  const { type } = asked.question;
  const [delegation, registration] = await Promise.all([
    findDelegation({ name: question.name, type }, servers, given),
    isGone(asked) || plan.registration !== undefined ? findRegistration(question.name, given) : null,
  ]);
  return {
    name: question.name,
    record: type,
    resolver: first?.written ?? null,
    answers: asked.result?.ok === true ? dataOf(asked.result.message.records) : [],
    failure: asked.result === null ? 'this node has no name server configured' : failureOf(asked.result),
    rcode: asked.result?.ok === true ? asked.result.message.rcode : null,
    delegation: [...delegation],
    ...(registration !== null && { registration }),
  };
}

/** One of the node's name servers, as resolv.conf(5) writes it. */
export interface OwnServer extends NameServer {
  readonly written: string;
}

function ownServers({ tools }: GatherContext): readonly OwnServer[] {
  const written = tools.ownServers().slice(0, mostServers);
  return written.flatMap((one) => ownServer(one).map((server) => ({ ...server, written: one })));
}

interface OwnAnswer {
  readonly question: Question;
  /** Null without a name server. */
  readonly result: QueryResult | null;
}

// The other family of addresses is asked for only if there are none of the first.
async function askOwn(question: Question, servers: readonly OwnServer[], given: GatherContext): Promise<OwnAnswer> {
  const [first] = servers;
  if (first === undefined) return { question, result: null };
  const result = await askFor(question, first, given);
  const isEmpty = result.ok && result.message.rcode === 'NOERROR' && result.message.records.length === 0;
  if (!isEmpty || given.plan.question !== undefined || given.plan.family !== undefined) return { question, result };
  const other = { ...question, type: 'AAAA' as const };
  const found = await askFor(other, first, given);
  return found.ok && found.message.records.length > 0 ? { question: other, result: found } : { question, result };
}

async function askFor(question: Question, server: NameServer, { context, tools: { environment } }: GatherContext) {
  const until = environment.clock.elapsed() + questionMs;
  return ask(question, server, { environment, signal: context.signal, protocol: 'udp', recursion: true, until });
}

const isGone = ({ result }: OwnAnswer) => result?.ok === true && result.message.rcode === 'NXDOMAIN';

async function findRegistration(
  name: string,
  { plan, context, tools }: GatherContext,
): Promise<NonNullable<NamesEvidence['registration']> | null> {
  const parsed = plan.registration ?? DomainSpec.safeParse({ type: 'domain', host: name }).data;
  if (parsed === undefined) return null;
  const domain = parsed.host;
  const unanswered = { domain, registered: null, expiresAt: null, status: [] };
  const { environment, lookup } = tools;
  const looking = within({ limitMs: registrationMs }, context, environment, async (network) =>
    orAbort(lookup.lookUp(parsed, network), network.signal),
  );
  try {
    const looked = await looking;
    if (!looked.ok) return { ...unanswered, failure: looked.failure.message };
    const { registration } = looked;
    if (registration === null) return { ...unanswered, registered: false, failure: null };
    const { expiresAt, status } = registration;
    return {
      domain,
      registered: true,
      expiresAt: expiresAt === null ? null : new Date(expiresAt).toISOString(),
      status: status.map((one) => one.slice(0, 100)),
      failure: null,
    };
  } catch (error) {
    context.signal.throwIfAborted();
    if (error instanceof Error) return { ...unanswered, failure: singleLine(error.message) };
    throw error;
  }
}
