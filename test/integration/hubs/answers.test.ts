import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { Msg } from '@nats-io/transport-node';
import { expect, test } from 'vitest';
import { type ForwardedAnswer, type ForwardedRequest, requestAnswer, sendAnswer } from '#hubs/answers.ts';
import { systemClock } from '#kernel/clock.ts';
import { connectionTimes, dial } from '#transport/nats/connection.ts';
import { natsObstacle, startNats } from '../../support/nats-server.ts';

const obstacle = natsObstacle();
const named = (name: string) => `${name}${obstacle === null ? '' : ` (${obstacle})`}`;

const subject = 'wp.v1.hubs.forward.b';
const request: ForwardedRequest = {
  listener: 'http.listen',
  method: 'GET',
  url: '/nodes',
  headers: {},
  body: '',
  remoteAddress: '192.0.2.1',
};
const times = { headMs: 1_000, wholeMs: 3_000 };
const headers = { 'content-type': 'text/plain' };

async function between(answer: ((message: Msg) => Promise<void>) | null) {
  const server = await startNats();
  const [a, b] = [await dial(server.account(), connectionTimes), await dial(server.account(), connectionTimes)];
  const failures: unknown[] = [];
  if (answer !== null)
    b.subscribe(subject, {
      callback: (_error, message) => void answer(message).catch((error: unknown) => failures.push(error)),
    });
  await b.flush();
  return {
    failures,
    ask: async (): Promise<ForwardedAnswer | null> => requestAnswer(a, subject, request, times, systemClock),
    async [Symbol.asyncDispose]() {
      await a.close();
      await b.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

test.skipIf(obstacle !== null)(
  named('an answer of another hub that is longer than a message of NATS comes whole'),
  async () => {
    const body = Buffer.from('all of it, '.repeat(100_000));
    await using hubs = await between(async (message) => {
      expect(JSON.parse(message.string())).toEqual(request);
      await sendAnswer(message, { status: 201, headers, body: Readable.from([body]) });
    });
    const answer = await hubs.ask();
    expect(answer).toMatchObject({ status: 201, headers });
    expect((await buffer(answer?.body ?? Readable.from([]))).equals(body)).toBe(true);
    expect(hubs.failures).toEqual([]);
  },
);

test.skipIf(obstacle !== null)(named('an answer without a body has none'), async () => {
  await using hubs = await between(async (message) =>
    sendAnswer(message, { status: 204, headers: {}, body: Readable.from([]) }),
  );
  const answer = await hubs.ask();
  expect(answer?.status).toBe(204);
  expect(await buffer(answer?.body ?? Readable.from([]))).toHaveLength(0);
});

test.skipIf(obstacle !== null)(named('a hub that is not there gives no answer, at once'), async () => {
  await using hubs = await between(null);
  expect(await hubs.ask()).toBeNull();
});

test.skipIf(obstacle !== null)(named('a hub that says nothing is an error after a second'), async () => {
  await using hubs = await between(async () => {});
  await expect(hubs.ask()).rejects.toThrow();
});

test.skipIf(obstacle !== null)(
  named('an answer that stops in the middle is an error, and never a shorter one'),
  async () => {
    await using hubs = await between(async (message) =>
      sendAnswer(message, {
        status: 200,
        headers,
        body: Readable.from(
          (async function* () {
            yield Buffer.from('the first part');
            throw new Error('the disk is gone');
          })(),
        ),
      }),
    );
    const answer = await hubs.ask();
    await expect(buffer(answer?.body ?? Readable.from([]))).rejects.toThrow('stopped before its end');
    expect(hubs.failures).toHaveLength(1);
  },
);
