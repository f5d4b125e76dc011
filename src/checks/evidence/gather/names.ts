import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { orAbort } from '#kernel/clock.ts';
import { unlessMissing } from '#kernel/files.ts';
import { singleLine } from '#kernel/text.ts';
import type { QueryResult } from '../../dns/ask.ts';
import type { Question } from '../../dns/message.ts';
import type { LookupSpec } from '../../domain/lookup.ts';
import { registeredName, standardSources } from '../../domain/registered-name.ts';
import { parseEndpoint } from '../../endpoint.ts';
import { parseHosts } from '../../hosts-file.ts';
import { within } from '../../reach.ts';
import type { NamesEvidence } from '../detail.ts';
import { type GatherContext, PartUnavailableError } from './context.ts';
import { dataOf, failureOf, findDelegation } from './delegation.ts';
import { type EvidenceResolver, findResolver } from './resolver.ts';

const questionMs = 2_500;
const registrationMs = 5_000;

/** What the resolver answers, and each authoritative server asked directly; null if there is no name. */
export async function gatherNames(given: GatherContext): Promise<NamesEvidence | null> {
  const { plan } = given;
  const question = plan.question ?? { name: plan.name, type: plan.family === 6 ? ('AAAA' as const) : ('A' as const) };
  if (isIP(question.name) !== 0) return null;
  if (plan.question === undefined) {
    if (!question.name.includes('.')) throw new PartUnavailableError(`${question.name} is no domain name`);
    const hosts = parseHosts((await unlessMissing(readFile('/etc/hosts', 'utf8'))) ?? '');
    if (hosts.has(question.name)) throw new PartUnavailableError(`${question.name} is in /etc/hosts`);
  }
  const resolver = await findResolver(given);
  const asked = await askResolver(question, resolver, given);
  const { type } = asked.question;
  const [delegation, registration] = await Promise.all([
    findDelegation({ name: question.name, type }, forZones(resolver, asked), given),
    isGone(asked) || plan.registration !== undefined ? findRegistration(question.name, given) : null,
  ]);
  const { result } = asked;
  return {
    name: question.name,
    record: type,
    resolver: resolver.address,
    ...(resolver.named !== undefined && { named: resolver.named }),
    answers: typeof result !== 'string' && result.ok ? dataOf(result.message.records) : [],
    failure: typeof result === 'string' ? result : failureOf(result),
    rcode: typeof result !== 'string' && result.ok ? result.message.rcode : null,
    delegation: [...delegation],
    ...(registration !== null && { registration }),
  };
}

// A target's own server that does not answer gets no more questions.
function forZones(resolver: EvidenceResolver, { result }: ResolverAnswer): EvidenceResolver {
  if (resolver.named === undefined || typeof result === 'string' || result.ok) return resolver;
  return { ...resolver, ask: result.failure.message };
}

interface ResolverAnswer {
  readonly question: Question;
  /** Or why the resolver cannot be asked. */
  readonly result: QueryResult | string;
}

// The other family of addresses is asked for only if there are none of the first.
async function askResolver(
  question: Question,
  { ask }: EvidenceResolver,
  { plan }: GatherContext,
): Promise<ResolverAnswer> {
  if (typeof ask === 'string') return { question, result: ask };
  const result = await ask(question, questionMs);
  const isEmpty = result.ok && result.message.rcode === 'NOERROR' && result.message.records.length === 0;
  if (!isEmpty || plan.question !== undefined || plan.family !== undefined) return { question, result };
  const other = { ...question, type: 'AAAA' as const };
  const found = await ask(other, questionMs);
  return found.ok && found.message.records.length > 0 ? { question: other, result: found } : { question, result };
}

const isGone = ({ result }: ResolverAnswer) =>
  typeof result !== 'string' && result.ok && result.message.rcode === 'NXDOMAIN';

async function findRegistration(
  name: string,
  { plan, context, tools }: GatherContext,
): Promise<NonNullable<NamesEvidence['registration']> | null> {
  const wanted = plan.registration ?? registrationOf(name);
  if (wanted === null) return null;
  const domain = wanted.host;
  const unanswered = { domain, registered: null, expiresAt: null, status: [] };
  const { environment, lookup } = tools;
  const looking = within({ limitMs: registrationMs }, context, environment, async (network) =>
    orAbort(lookup.lookUp(wanted, network), network.signal),
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

// Null if there is no domain to be registered.
function registrationOf(name: string): LookupSpec | null {
  const endpoint = parseEndpoint(name);
  const host = endpoint.ok ? registeredName(endpoint) : null;
  return typeof host === 'string' ? { host, ...standardSources } : null;
}
