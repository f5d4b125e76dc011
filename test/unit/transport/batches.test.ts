import { expect, test } from 'vitest';
import { failed, failure } from '#checks/index.ts';
import type { ResultReceipt } from '#protocol/nodes.ts';
import type { Observation } from '#protocol/watching.ts';
import { createBatches } from '#transport/nats/batches.ts';
import { createDelivery } from '#transport/nats/delivery.ts';
import { openSpool } from '#node/spool.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { memoryLog } from '../../support/memory-log.ts';

const outcome = failed(failure('target', 'refused', 'connection refused'));

function play(refuses: (node: string, sighting: Observation) => string | null) {
  const clock = new FakeClock();
  const log = memoryLog();
  const seen: Observation[] = [];
  const listener = {
    watching: () => {},
    refuses,
    seen(_: string, sightings: readonly Observation[], confirm: (() => void) | null) {
      seen.push(...sightings);
      confirm?.();
    },
  };
  const batches = createBatches({
    isEnrolled: () => true,
    heard: () => {},
    refused: () => {},
    listener: () => listener,
    clock,
    log: log.log,
  });
  const send = (...dues: readonly number[]): ResultReceipt => {
    let answer = '';
    const sightings = dues.map((dueAt) => ({
      target: 'shop',
      revision: 'a',
      type: 'tcp',
      dueAt,
      startedAt: dueAt,
      outcome,
    }));
    const text = JSON.stringify({ kind: 'batch', protocol: [1, 3], ticket: 't', process: 'p', sightings });
    const respond = (data?: unknown) => ((answer = String(data)), true);
    batches.take('de1', { data: Buffer.from(text), string: () => text, respond });
    return JSON.parse(answer) as ResultReceipt; // oxlint-disable-line typescript/no-unsafe-type-assertion -- ours
  };
  return { clock, log, seen, send };
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
