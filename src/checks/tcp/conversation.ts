import type { Socket } from 'node:net';
import { type Clock, DeadlineError, orAbort } from '#kernel/clock.ts';
import { singleLine } from '#kernel/text.ts';
import { formatDuration } from '#kernel/units.ts';
import { closeSocket } from '../connection.ts';
import { streamFailure } from '../network-errors.ts';
import { type Fact, type Failure, failure, type Phase, toSeconds } from '../outcome.ts';
import { bytesOf, matcherOf, type Expectation } from '../payload.ts';
import { expiresAt, handshakeFailure, verifyCertificate, startTls } from '../tls.ts';
import { answerLimit, gatherAnswer } from './answer.ts';
import type { Detail } from './detail.ts';
import type { Spec } from './spec.ts';

/** What a probe has found so far: the outcome is made of it wherever the conversation ends. */
export interface Findings {
  readonly phases: Partial<Record<Phase, number>>;
  readonly facts: Partial<Record<Fact, number>>;
  readonly detail: Detail;
}

export interface ConversationOptions {
  /** Filled as the conversation goes on. */
  readonly findings: Findings;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Does on an open connection what the spec asks for: TLS, then sending, then reading. Null where all went well. */
export async function converse(
  spec: Spec,
  name: string,
  socket: Socket,
  options: ConversationOptions,
): Promise<Failure | null> {
  if (spec.tls === false) return exchange(spec, socket, options);
  const { findings, clock, signal } = options;
  const wishes = spec.tls === true ? { verify: true } : spec.tls;
  const serverName = wishes.server_name ?? name;
  const start = clock.elapsed();
  let secured;
  try {
    const trust = { serverName, ca: wishes.ca, minVersion: wishes.min_version };
    secured = await startTls(socket, trust, signal);
  } catch (error) {
    if (error instanceof DeadlineError) {
      return failure('target', 'timeout', `no TLS handshake within ${formatDuration(error.ms)}`);
    }
    signal.throwIfAborted();
    return handshakeFailure(error);
  }
  try {
    findings.phases.tls = toSeconds(clock.elapsed() - start);
    const verified = verifyCertificate(secured, serverName, clock.now());
    const cipher = secured.getCipher().standardName;
    findings.detail.tls = { protocol: secured.getProtocol() ?? '', cipher, certificate: verified.certificate };
    if (verified.certificate !== null) findings.facts.certificate_expires_at = expiresAt(verified.certificate);
    if (verified.failure !== null && wishes.verify) return verified.failure;
    return await exchange(spec, secured, options);
  } finally {
    await closeSocket(secured);
  }
}

async function exchange(spec: Spec, socket: Socket, options: ConversationOptions): Promise<Failure | null> {
  const { findings, clock, signal } = options;
  const start = clock.elapsed();
  try {
    if (spec.send !== undefined) await orAbort(written(socket, bytesOf(spec.send)), signal);
  } catch (error) {
    if (error instanceof DeadlineError) {
      return failure('target', 'timeout', `did not take what was sent within ${formatDuration(error.ms)}`);
    }
    signal.throwIfAborted();
    return streamFailure(error);
  }
  if (spec.expect === undefined) return null;
  const reading = await readUntil(socket, matcherOf(spec.expect), options);
  if (reading.firstAt !== null) findings.phases.first_byte = toSeconds(reading.firstAt - start);
  if (reading.bytes.length > 0) findings.detail.answer = singleLine(reading.bytes.subarray(0, 1_000).toString('utf8'));
  return verdictOn(reading, spec.expect, signal);
}

/** How reading ended: by a match, by the cap, by the other side's end, or by an error such as the deadline's. */
interface Reading {
  readonly end: 'matched' | 'full' | 'ended' | Error;
  readonly bytes: Buffer;
  readonly firstAt: number | null;
}

function verdictOn({ end, bytes }: Reading, expectation: Expectation, signal: AbortSignal): Failure | null {
  if (end === 'matched') return null;
  const wrong = `the answer ${JSON.stringify(bytes.subarray(0, 60).toString('utf8'))} does not contain ${describe(expectation)}`;
  if (end === 'full')
    return failure('target', 'answer', `the first ${answerLimit} bytes do not contain ${describe(expectation)}`);
  if (end === 'ended') {
    if (bytes.length > 0) return failure('target', 'answer', wrong);
    return failure('target', 'closed', 'connection closed by the target without an answer');
  }
  if (end instanceof DeadlineError) {
    if (bytes.length > 0) return failure('target', 'answer', wrong);
    return failure('target', 'timeout', `no answer within ${formatDuration(end.ms)}`);
  }
  signal.throwIfAborted();
  return streamFailure(end);
}

function describe(expectation: Expectation): string {
  if (typeof expectation === 'string') return JSON.stringify(expectation);
  return 'regex' in expectation ? `/${expectation.regex}/` : `the bytes ${expectation.hex}`;
}

async function readUntil(
  socket: Socket,
  matches: (answer: Buffer) => boolean,
  { clock, signal }: ConversationOptions,
): Promise<Reading> {
  let firstAt: number | null = null;
  let onMatch = () => {};
  using answer = gatherAnswer(matches, clock, () => onMatch());
  const reading = new Promise<'matched' | 'full' | 'ended'>((resolve, reject) => {
    onMatch = () => resolve('matched');
    socket.on('data', (piece: Buffer) => {
      firstAt ??= clock.elapsed();
      answer.take(piece);
      if (answer.full) resolve('full');
    });
    socket.once('end', () => resolve('ended'));
    socket.once('error', reject);
    socket.once('close', () => resolve('ended'));
  });
  const end = await orAbort(reading, signal).catch((error: unknown) =>
    error instanceof Error ? error : new Error(String(error)),
  );
  socket.pause();
  return { end: answer.look() ? 'matched' : end, bytes: answer.bytes, firstAt };
}

async function written(socket: Socket, bytes: Buffer): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    socket.write(bytes, (error) => (error instanceof Error ? reject(error) : resolve()));
  });
}
