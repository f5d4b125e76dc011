import type { X509Certificate } from 'node:crypto';
import type { Socket } from 'node:net';
import { type Clock, DeadlineError, orAbort } from '#kernel/clock.ts';
import { singleLine } from '#kernel/text.ts';
import { formatDuration } from '#kernel/units.ts';
import { closeSocket } from '../connection.ts';
import type { ArrivedAt } from '../arrivals.ts';
import { streamFailure } from '../network-errors.ts';
import { type Fact, type Failure, failure, type Phase, toSeconds } from '../outcome.ts';
import { bytesOf, describeExpectation, endOfMatch, matcherOf, type Payload } from '../payload.ts';
import { receiveLimit } from './receive-buffer.ts';
import { createReader, type StreamReader, type Reading } from './reader.ts';
import { secure } from './secure.ts';
import type { StreamDetail, Tls } from './tls.ts';
import type { Step } from './step.ts';

/** What a probe has found so far: the outcome is made of it wherever the conversation ends. */
export interface Findings {
  readonly phases: Partial<Record<Phase, number>>;
  readonly facts: Partial<Record<Fact, number>>;
  readonly detail: StreamDetail;
}

export interface ConversationOptions {
  /** What TLS is to be like, if a step starts it. */
  readonly tls: Tls;
  /** The name of the target, for its certificate. */
  readonly name: string;
  /** Filled as the conversation goes on. */
  readonly findings: Findings;
  readonly clock: Clock;
  /** Of the connection, or of that below it. */
  readonly arrivedAt: ArrivedAt;
  readonly signal: AbortSignal;
  /** Whether the server must staple an OCSP response that says that its certificate is good. */
  readonly wantsStaple?: boolean;
  /** Called with the server's certificates, its own first, once there is nothing wrong with them. */
  readonly onChain?: ((chain: readonly X509Certificate[]) => void) | undefined;
  /** Called with all that comes, decrypted if TLS was started. */
  readonly onBytes?: (bytes: Buffer) => void;
  /** Called if the other side ends the connection while something is said or heard. */
  readonly onEnd?: () => void;
}

/** Says and hears on an open connection what the steps ask for. Null if all went well. */
export async function converse(
  steps: readonly Step[],
  socket: Socket,
  options: ConversationOptions,
): Promise<Failure | null> {
  return converseFrom(steps, socket, { ...options, from: options.clock.elapsed() });
}

interface ConversationState extends ConversationOptions {
  /** When what is said began, on the monotonic clock. */
  readonly from: number;
}

// The steps up to the one where TLS starts, then the others on the secured connection.
async function converseFrom(
  steps: readonly Step[],
  socket: Socket,
  conversation: ConversationState,
): Promise<Failure | null> {
  const { tls, name, findings, clock } = conversation;
  const upgrade = steps.findIndex((step) => step.do === 'starttls');
  const plain = upgrade === -1 ? steps : steps.slice(0, upgrade);
  const wrong = await exchange(plain, socket, conversation);
  if (wrong !== null || upgrade === -1) return wrong;
  const secured = await secure(socket, name, tls, conversation);
  findings.detail.tls = secured.tls;
  if (!secured.ok) return secured.failure;
  try {
    // The handshake is no part of the time to the first byte.
    const from = findings.phases.first_byte === undefined ? clock.elapsed() : conversation.from;
    return await converseFrom(steps.slice(upgrade + 1), secured.socket, { ...conversation, from });
  } finally {
    await closeSocket(secured.socket);
  }
}

async function exchange(
  steps: readonly Step[],
  socket: Socket,
  conversation: ConversationState,
): Promise<Failure | null> {
  if (steps.length === 0) return null;
  const reader = createReader(socket, conversation);
  try {
    for (const step of steps) {
      const wrong =
        step.do === 'send'
          ? await sendPayload(step.payload, socket, conversation)
          : await expectAnswer(step, reader, conversation);
      if (wrong !== null) return wrong;
    }
    return null;
  } finally {
    reader.stop();
  }
}

async function sendPayload(payload: Payload, socket: Socket, { signal }: ConversationState): Promise<Failure | null> {
  try {
    await orAbort(written(socket, bytesOf(payload)), signal);
    return null;
  } catch (error) {
    if (error instanceof DeadlineError) {
      return failure('target', 'timeout', `did not take what was sent within ${formatDuration(error.ms)}`);
    }
    signal.throwIfAborted();
    return streamFailure(error);
  }
}

async function expectAnswer(
  step: Step,
  reader: StreamReader,
  conversation: ConversationState,
): Promise<Failure | null> {
  if (step.do !== 'expect') return null;
  const { expectation, refusal, words: wanted = describeExpectation(expectation) } = step;
  const { findings, from, signal } = conversation;
  const matches = matcherOf(expectation);
  const refuses = refusal === undefined ? () => false : matcherOf(refusal);
  const reading = await reader.until(
    (answer) => matches(answer) || refuses(answer),
    (answer) => endOfMatch(expectation, answer),
  );
  // What was there before anything was waited for took no time.
  if (reader.firstAt !== null) findings.phases.first_byte ??= toSeconds(Math.max(0, reader.firstAt - from));
  if (reading.bytes.length > 0) {
    findings.detail.answer ??= singleLine(reading.bytes.subarray(0, 1_000).toString('utf8'));
  }
  if (reading.end === 'matched') return matches(reading.bytes) ? null : wrongAnswer(reading, wanted);
  return verdictOn(reading, wanted, signal);
}

function verdictOn(reading: Reading, wanted: string, signal: AbortSignal): Failure | null {
  const { end, bytes } = reading;
  if (end === 'full') {
    const message = `the first ${receiveLimit} bytes do not contain ${wanted}`;
    return failure('target', 'answer', message);
  }
  if (end === 'ended') {
    if (bytes.length > 0) return wrongAnswer(reading, wanted);
    return failure('target', 'closed', 'connection closed by the target without an answer');
  }
  if (end instanceof DeadlineError) {
    if (bytes.length > 0) return wrongAnswer(reading, wanted);
    return failure('target', 'timeout', `no answer within ${formatDuration(end.ms)}`);
  }
  signal.throwIfAborted();
  return streamFailure(end);
}

function wrongAnswer({ bytes }: Reading, wanted: string): Failure {
  const quoted = JSON.stringify(bytes.subarray(0, 60).toString('utf8'));
  return failure('target', 'answer', `the answer ${quoted} does not contain ${wanted}`);
}

async function written(socket: Socket, bytes: Buffer): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    socket.write(bytes, (error) => (error instanceof Error ? reject(error) : resolve()));
  });
}
