import { describeDuration } from '#kernel/units.ts';
import type { ProbeEnvironment } from '../check.ts';
import { converse, type DatagramAddresses, type Peer } from '../datagram.ts';
import { formatHostPort } from '../endpoint.ts';
import { type Failure, failure, toSeconds } from '../outcome.ts';
import { encodeQuery, type DnsMessage, type Question, readMessage } from './message.ts';
import { queryEncrypted, type Encryption, type EncryptedQuery } from './secured.ts';
import type { Protocol } from './record-types.ts';
import { askOverStream } from './stream.ts';

/** A name server to ask, and how to judge the connection to it. */
export interface NameServer extends Peer {
  verify(ends: DatagramAddresses): Failure | null;
}

export interface ResolverQueryOptions {
  readonly environment: ProbeEnvironment;
  readonly signal: AbortSignal;
  readonly protocol: Protocol;
  /** The server over an encrypted connection, if it is asked so. */
  readonly secured?: EncryptedQuery;
  readonly recursion: boolean;
  /** Whether to ask for the AD bit. */
  readonly wantsAuthentic?: boolean;
  /** Monotonic milliseconds at which the answer must be there. */
  readonly until: number;
}

export interface DnsAnswer {
  readonly ok: true;
  readonly question: Question;
  readonly server: NameServer;
  readonly message: DnsMessage;
  readonly protocol: Protocol;
  readonly encryption?: Encryption;
  /** Whether the answer was too long for a datagram and came over TCP. */
  readonly truncated: boolean;
  /** From the sending of the query that was answered to the arrival of its answer; connecting included over TCP. */
  readonly seconds: number;
  /** Whose fault a bad response code is, if that has been found out. */
  readonly blamed: Failure | null;
}

export interface QueryFailure {
  readonly ok: false;
  readonly question: Question;
  readonly server: NameServer;
  readonly failure: Failure;
  readonly encryption?: Encryption;
  /** How long it took to fail. */
  readonly seconds: number;
}

export type QueryResult = DnsAnswer | QueryFailure;

/**
 * Asks one name server one question. A server that cannot read EDNS is asked again without it (RFC 6891, section 7), and an
 * answer too long for a datagram is fetched over TCP. Failures are put down to the server as the target of the check.
 */
export async function ask(question: Question, server: NameServer, options: ResolverQueryOptions): Promise<QueryResult> {
  const asked = await askOnce(question, server, options, true);
  const unread = asked.ok && (asked.message.rcode === 'FORMERR' || asked.message.rcode === 'NOTIMP');
  return unread ? askOnce(question, server, options, false) : asked;
}

async function askOnce(
  question: Question,
  server: NameServer,
  options: ResolverQueryOptions,
  edns: boolean,
): Promise<QueryResult> {
  if (options.secured !== undefined) return askEncrypted(question, server, options, edns, options.secured);
  if (options.protocol === 'tcp') return askTcp(question, server, options, edns);
  const asked = await askUdp(question, server, options, edns);
  if (!asked.ok || !asked.message.truncated) return asked;
  const whole = await askTcp(question, server, options, edns);
  const seconds = toSeconds((asked.seconds + whole.seconds) * 1_000);
  if (whole.ok) return { ...whole, truncated: true, seconds };
  const { source, code, message } = whole.failure;
  const reason = failure(source, code, `the answer is too long for UDP; over TCP: ${message}`);
  return { ...whole, failure: reason, seconds };
}

function queryOf(question: Question, id: number, options: ResolverQueryOptions, edns: boolean): Buffer {
  const { recursion, wantsAuthentic } = options;
  return encodeQuery(question, { id, recursion, edns, wantsAuthentic });
}

async function askUdp(
  question: Question,
  server: NameServer,
  options: ResolverQueryOptions,
  edns: boolean,
): Promise<QueryResult> {
  const { environment, signal } = options;
  const { clock } = environment;
  const start = clock.elapsed();
  const timeoutMs = timeLeft(options);
  const ids: number[] = [];
  const unanswered = (reason: Failure): QueryFailure => {
    return { ok: false, question, server, failure: reason, seconds: toSeconds(clock.elapsed() - start) };
  };
  const conversation = await converse<QueryResult>(server, {
    clock,
    signal,
    localAddress: environment.localAddress[server.family],
    sendAtMs: [0, timeoutMs * 0.4],
    timeoutMs,
    verify: (ends) => server.verify(ends),
    make() {
      const id = drawId(environment);
      ids.push(id);
      return queryOf(question, id, options, edns);
    },
    // Each datagram has its own id, so that an answer tells which one it answers.
    read(datagram, { sentAt, receivedAt }) {
      for (const [index, id] of ids.entries()) {
        const read = readMessage(datagram, question, id);
        if (read.kind === 'stranger') continue;
        if (read.kind === 'malformed') return unanswered(malformed(server, read.reason));
        const seconds = toSeconds(receivedAt - (sentAt[index] ?? receivedAt));
        const { message } = read;
        return { ok: true, question, server, message, protocol: 'udp', truncated: false, seconds, blamed: null };
      }
      return null;
    },
  });
  if (conversation.kind === 'reply') return conversation.reply;
  if (conversation.kind === 'failed') return unanswered(conversation.failure);
  return unanswered(noAnswerFailure(server, timeoutMs, conversation.ignored));
}

async function askTcp(
  question: Question,
  server: NameServer,
  options: ResolverQueryOptions,
  edns: boolean,
): Promise<QueryResult> {
  const { environment, signal } = options;
  const { clock } = environment;
  const timeoutMs = timeLeft(options);
  const id = drawId(environment);
  const query = queryOf(question, id, options, edns);
  const localAddress = environment.localAddress[server.family];
  const start = clock.elapsed();
  const verify: NameServer['verify'] = (ends) => server.verify(ends);
  const answer = await askOverStream(server, query, { clock, signal, localAddress, timeoutMs, verify });
  const seconds = toSeconds(clock.elapsed() - start);
  const unanswered = (reason: Failure): QueryFailure => ({ ok: false, question, server, failure: reason, seconds });
  if (answer.kind === 'failed') return unanswered(answer.failure);
  if (answer.kind === 'silent') return unanswered(noAnswerFailure(server, timeoutMs, 0));
  const read = readMessage(answer.bytes, question, id);
  if (read.kind === 'stranger') return unanswered(malformed(server, 'it answers another question'));
  if (read.kind === 'malformed') return unanswered(malformed(server, read.reason));
  const { message } = read;
  if (message.truncated) return unanswered(malformed(server, 'it is truncated over TCP too'));
  return { ok: true, question, server, message, protocol: 'tcp', truncated: false, seconds, blamed: null };
}

async function askEncrypted(
  question: Question,
  server: NameServer,
  options: ResolverQueryOptions,
  edns: boolean,
  secured: EncryptedQuery,
): Promise<QueryResult> {
  const { environment, protocol } = options;
  const { clock } = environment;
  // Over HTTP a number would only keep caches from knowing the question (RFC 8484, section 4.1).
  const id = protocol === 'https' ? 0 : drawId(environment);
  const start = clock.elapsed();
  const { answer, encryption } = await queryEncrypted(queryOf(question, id, options, edns), secured);
  const seconds = toSeconds(clock.elapsed() - start);
  const unanswered = (reason: Failure): QueryFailure => {
    return { ok: false, question, server, failure: reason, seconds, encryption };
  };
  if (!Buffer.isBuffer(answer)) return unanswered(answer);
  const read = readMessage(answer, question, id);
  if (read.kind === 'stranger') return unanswered(malformed(server, 'it answers another question'));
  if (read.kind === 'malformed') return unanswered(malformed(server, read.reason));
  const { message } = read;
  if (message.truncated) return unanswered(malformed(server, 'it is truncated over an encrypted connection too'));
  return { ok: true, question, server, message, protocol, truncated: false, seconds, blamed: null, encryption };
}

/** How messages name a server. */
export function nameOf({ address, port }: Peer): string {
  return port === 53 ? address : formatHostPort(address, port);
}

function timeLeft({ until, environment }: ResolverQueryOptions): number {
  return Math.max(1, until - environment.clock.elapsed());
}

function drawId({ random }: ProbeEnvironment): number {
  const [high = 0, low = 0] = random.bytes(2);
  return high * 256 + low;
}

function malformed(server: NameServer, reason: string): Failure {
  return failure('target', 'protocol', `the answer of ${nameOf(server)} cannot be read: ${reason}`);
}

function noAnswerFailure(server: NameServer, timeoutMs: number, ignored: number): Failure {
  const strangers = ignored === 0 ? '' : ` (${ignored} unrelated packets ignored)`;
  const message = `no answer from ${nameOf(server)} within ${describeDuration(timeoutMs)}${strangers}`;
  return failure('target', 'timeout', message);
}
