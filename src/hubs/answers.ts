import { errors, type Msg, type NatsConnection } from '@nats-io/transport-node';
import { z } from 'zod';
import { type Clock, deadline, orAbort } from '#kernel/clock.ts';
import { parseJson } from '#kernel/json.ts';

/** An HTTP request that another hub is to answer; the body is base64. */
export const ForwardedRequest = z.object({
  listener: z.enum(['http.listen', 'http.admin']),
  method: z.string(),
  url: z.string(),
  headers: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
  body: z.string(),
  /** Who asked, as the socket says. */
  remoteAddress: z.string(),
});
export type ForwardedRequest = z.output<typeof ForwardedRequest>;

const AnswerHead = z.object({
  status: z.number(),
  headers: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
});

/** The answer of another hub. Its body comes as that hub makes it, and rejects if it stops before its end. */
export interface ForwardedAnswer extends z.output<typeof AnswerHead> {
  readonly body: AsyncIterable<Uint8Array>;
}

/** How long an answer may take, in milliseconds. */
export interface AnswerTimes {
  /** Until its head is there. */
  readonly headMs: number;
  /** Until all of it is there. */
  readonly wholeMs: number;
}

// A server takes 128 KiB at once as it is shipped.
export const partBytes = 96 * 1_024;

/** Answers a message with a head, the body in parts, and a message without bytes at the end. */
export async function sendAnswer(message: Msg, { status, headers, body }: ForwardedAnswer): Promise<void> {
  message.respond(JSON.stringify({ status, headers }));
  for await (const chunk of body)
    for (let from = 0; from < chunk.length; from += partBytes) message.respond(chunk.subarray(from, from + partBytes));
  message.respond();
}

/** Has a hub answer a request; null if no hub hears the subject. Rejects if the head of its answer does not come in time. */
export async function requestAnswer(
  connection: NatsConnection,
  subject: string,
  request: ForwardedRequest,
  { headMs, wholeMs }: AnswerTimes,
  clock: Clock,
): Promise<ForwardedAnswer | null> {
  const messages = await connection.requestMany(subject, JSON.stringify(request), {
    strategy: 'sentinel',
    maxWait: wholeMs,
  });
  const parts = messages[Symbol.asyncIterator]();
  using limit = deadline(clock, headMs);
  try {
    const { value: first, done } = await orAbort(parts.next(), limit.signal);
    if (done === true) throw new Error('there was no answer in time');
    if (first instanceof Error) throw first;
    return { ...AnswerHead.parse(parseJson(first.string())), body: bodyOf(parts) };
  } catch (error) {
    // It ends once the message that it waits for has come or is late: the caller does not wait for that.
    void parts.return?.();
    if (isNotThere(error)) return null;
    throw error;
  }
}

async function* bodyOf(parts: AsyncIterator<Msg | Error>): AsyncGenerator<Uint8Array> {
  try {
    for (;;) {
      const { value: part, done } = await parts.next();
      if (done === true) throw new Error('the answer of the other hub stopped before its end');
      if (part instanceof Error) throw part;
      if (part.data.length === 0) return;
      yield part.data;
    }
  } finally {
    await parts.return?.();
  }
}

function isNotThere(error: unknown): boolean {
  return error instanceof errors.NoRespondersError || (error instanceof errors.RequestError && error.isNoResponders());
}
