import { expect, test } from 'vitest';
import { failed, failure } from '#checks/index.ts';
import type { ResultReceipt } from '#protocol/nodes.ts';
import type { Observation, PassedChecks } from '#protocol/watching.ts';
import type { NodeListener, UnreadBatch } from '#service/ports.ts';
import { createBatches } from '#transport/nats/batches.ts';
import { createDelivery } from '#transport/nats/delivery.ts';
import { openSpool } from '#node/spool.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { measured } from '../../support/remote-nodes.ts';

const outcome = failed(failure('target', 'refused', 'connection refused'));

function play(refuses: (node: string, observation: Observation) => string | null, receive?: NodeListener['receive']) {
  const clock = new FakeClock();
  const log = memoryLog();
  const seen: Observation[] = [];
  const passed: [string, PassedChecks][] = [];
  const listener = {
    watching: () => {},
    passedOver: (node: string, checks: PassedChecks) => void passed.push([node, checks]),
    refuses,
    ...(receive !== undefined && { receive }),
    seen(_: string, observations: readonly Observation[], confirm: (() => void) | null) {
      seen.push(...observations);
      confirm?.();
    },
  };
  const answers: ResultReceipt[] = [];
  const batches = createBatches({
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- ours
    answer: (_, payload) => void answers.push(JSON.parse(payload) as ResultReceipt),
    isEnrolled: () => true,
    heard: () => {},
    refused: () => {},
    listener: () => listener,
    clock,
    log: log.log,
  });
  const take = (content: object, results: readonly object[]) => {
    const batch = { kind: 'batch', protocol: [1, 3], ticket: 't', process: 'p', ...content, sightings: results };
    batches.take('de1', { data: Buffer.from(JSON.stringify(batch)), reply: 'inbox' });
  };
  const resultOf = (dueAt: number, more: object = {}) => {
    return { target: 'shop', revision: 'a', type: 'tcp', dueAt, startedAt: dueAt, outcome, ...more };
  };
  const send = (...dues: readonly number[]): ResultReceipt | undefined => {
    take(
      {},
      dues.map((dueAt) => resultOf(dueAt)),
    );
    return answers.at(-1);
  };
  return { clock, log, seen, passed, send, take, resultOf, answers };
}

test('what a node made up is discarded, and it is told so; what is true beside it counts', async () => {
  const { clock, log, seen, send } = play((_, { dueAt }) =>
    dueAt % 10_000 === 0 ? null : 'it is no due time of shop',
  );
  const now = clock.now();
  expect(send(now - 10_000)).toEqual({ ticket: 't', state: 'stored', reason: null });
  const reason = 'it is no due time of shop';
  expect(send(now, now - 1, now - 2)).toEqual({ ticket: 't', state: 'stored', reason, discarded: 2 });
  for (let index = 0; index < 1_000; index += 1)
    expect(send(now - 1 - index * 10_000)).toEqual({ ticket: 't', state: 'refused', reason, discarded: 1 });
  expect(send(now + 60_000)).toMatchObject({ state: 'refused', reason: 'shop is not due yet' });
  expect(seen.map(({ dueAt }) => dueAt)).toEqual([now - 10_000, now]);
  const lines = () => log.lines.filter(({ msg }) => msg === 'discarded results of a node');
  expect(lines()).toHaveLength(1);
  await clock.advance(60_000);
  send(now - 1);
  expect(lines()).toMatchObject([{ count: 2 }, { node: 'de1', count: 1_002, reason }]);
});

test('a batch tells of which due times its node passed checks over, before it is parsed', () => {
  const { take, resultOf, passed, clock } = play(
    () => null,
    () => {},
  );
  const due = { from: clock.now() - 5_000, until: clock.now() };
  take({ news: false, due, results: 1, passed: { checks: 3, due: { from: 1, until: 2 } } }, [resultOf(due.until)]);
  take({ news: false, due, results: 1 }, [resultOf(due.until)]);
  expect(passed).toEqual([['de1', { checks: 3, due: { from: 1, until: 2 } }]]);
});

test('a node drops what the hub refused, and counts it', () => {
  const clock = new FakeClock();
  const { log, lines } = memoryLog();
  const spool = openSpool({ path: ':memory:', longestMs: 60_000, most: 100, clock, log });
  const delivery = createDelivery({ spool, send: () => true, clock, log });
  for (const id of ['a', 'b', 'c', 'd']) delivery.add(id, '{}');
  delivery.hear({ ticket: 'a', state: 'stored', reason: null });
  delivery.hear({ ticket: 'b', state: 'refused', reason: 'it answers no command of this hub' });
  delivery.hear({ ticket: 'c', state: 'stored', reason: 'it is no due time of shop', discarded: 3 });
  expect([spool.size, delivery.refused]).toEqual([1, 4]);
  expect(lines.filter(({ msg }) => msg === 'the hub refused results')).toHaveLength(1);
  delivery.close();
  spool.close();
});

test('a batch is not parsed before its turn, and the hub may have it skipped or sent again instead', () => {
  const waiting: UnreadBatch[] = [];
  const { take, resultOf, seen, answers, clock } = play(
    () => null,
    (batch) => void waiting.push(batch),
  );
  const due = { from: clock.now() - 5_000, until: clock.now() };
  const healthy = { ...resultOf(due.until), outcome: measured };
  take({ news: false, due, results: 2 }, [healthy, healthy]);
  take({ news: true, due, results: 1 }, [healthy]);
  // Of an earlier version.
  take({}, [{ ...resultOf(due.from), outcome: measured }, healthy]);
  take({}, [healthy, resultOf(due.until)]);
  take({}, [{ nonsense: '"status":"down"', dueAt: due.until }]);
  expect([seen, answers]).toEqual([[], []]);
  expect(waiting.map(({ isNews, results }) => [isNews, results])).toEqual([
    [false, 2],
    [true, 1],
    [false, 2],
    [true, 2],
    [false, 1],
  ]);
  expect(waiting[0]?.due).toEqual(due);
  expect(waiting[2]?.due.from).toBeLessThanOrEqual(due.from);
  expect(waiting[2]?.due.until).toBe(due.until);
  waiting[0]?.skip();
  waiting[2]?.postpone();
  const read = waiting[3]?.read();
  expect(read?.observations.map(({ outcome }) => outcome.status)).toEqual(['up', 'down']);
  read?.confirm?.();
  expect(waiting[4]?.read()).toBeNull();
  const reason = 'hub overload: these results were not read in time';
  expect(answers).toEqual([
    { ticket: 't', state: 'stored', reason, skipped: 2 },
    { ticket: 't', state: 'later', reason: null },
    { ticket: 't', state: 'stored', reason: null },
    { ticket: 't', state: 'refused', reason: 'it cannot be read' },
  ]);
});

/** A delivery of a node that is connected, with room for so many results, and what it has sent. */
function openDelivery(most: number) {
  const clock = new FakeClock();
  const { log } = memoryLog();
  const spool = openSpool({ path: ':memory:', longestMs: 600_000, most, clock, log });
  const sent: string[] = [];
  const delivery = createDelivery({ spool, send: (payload) => sent.push(payload) > 0, clock, log });
  delivery.resume();
  return { clock, spool, sent, delivery };
}

test('a node forgets what the hub skipped, counts it, and sends again later what it is to send later', async () => {
  const { clock, spool, sent, delivery } = openDelivery(100);
  delivery.add('a', 'A');
  delivery.add('b', 'B');
  delivery.hear({ ticket: 'a', state: 'stored', reason: 'hub overload', skipped: 256 });
  delivery.hear({ ticket: 'b', state: 'later', reason: null });
  expect([spool.size, delivery.skipped, delivery.refused, delivery.unsent]).toEqual([1, 256, 0, 1]);
  expect(sent).toEqual(['A', 'B']);
  await clock.advance(20_000);
  expect(sent).toEqual(['A', 'B', 'B']);
  expect(delivery.unsent).toBe(0);
  delivery.close();
  spool.close();
});

test('what has no receipt is sent again in its order, of more than fits under way the newest first', async () => {
  const clock = new FakeClock();
  const { log } = memoryLog();
  const spool = openSpool({ path: ':memory:', longestMs: 600_000, most: 2_000, clock, log });
  const sent: number[] = [];
  const delivery = createDelivery({ spool, send: (payload) => sent.push(Number(payload)) > 0, clock, log });
  for (let number = 0; number < 1_030; number += 1) delivery.add(`t${number}`, String(number));
  expect(sent).toEqual([]);
  delivery.resume();
  expect(sent).toEqual(Array.from({ length: 1_024 }, (_, index) => index + 6));
  for (let number = 6; number < 1_030; number += 1)
    delivery.hear({ ticket: `t${number}`, state: 'stored', reason: null });
  expect(sent.slice(1_024)).toEqual([5, 4, 3, 2, 1, 0]);
  delivery.close();
  spool.close();
});

test('however many urgent results have no receipt, healthy ones are sent, up to as many as may be under way', async () => {
  const { clock, spool, sent, delivery } = openDelivery(10_000);
  for (let number = 0; number < 2_000; number += 1) delivery.add(`urgent ${number}`, 'urgent');
  for (let number = 0; number < 1_030; number += 1) delivery.add(`healthy ${number}`, `healthy ${number}`, false);
  expect(sent.slice(0, 2_000).every((payload) => payload === 'urgent')).toBe(true);
  expect([sent.length, sent.at(-1), delivery.unsent]).toEqual([3_024, 'healthy 1023', 6]);
  delivery.hear({ ticket: 'urgent 0', state: 'stored', reason: null });
  expect(sent).toHaveLength(3_024);
  delivery.hear({ ticket: 'healthy 0', state: 'stored', reason: null });
  expect([sent.at(-1), delivery.unsent]).toEqual(['healthy 1029', 5]);
  // What has no receipt for so long is sent again.
  await clock.advance(91_000);
  expect(sent).toHaveLength(3_025 + 1_024);
  delivery.close();
  spool.close();
});
