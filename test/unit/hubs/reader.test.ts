import type { NatsConnection } from '@nats-io/transport-node';
import { expect, test } from 'vitest';
import type { LogPosition } from '#hubs/position.ts';
import { createReader } from '#hubs/reader.ts';
import { encodeRecord } from '#hubs/record.ts';
import type { LogSession } from '#hubs/session.ts';
import { memoryLog } from '../../support/memory-log.ts';

/** A reader of a log that has so many records, and what it asked for and applied. */
function readerOf(count: number) {
  const asked: number[] = [];
  const applied: unknown[] = [];
  let position: LogPosition = { sequence: 0, epoch: 1, n: 0 };
  let waiting = 0;
  let mostWaiting = 0;
  const records = Array.from({ length: count }, (_, index) => recordOf(index + 1));
  const session: Pick<LogSession, 'read' | 'connection'> = {
    connection: {} as NatsConnection,
    async read(sequence) {
      asked.push(sequence);
      mostWaiting = Math.max(mostWaiting, (waiting += 1));
      await Promise.resolve();
      waiting -= 1;
      return records[sequence - 1] ?? null;
    },
  };
  const reader = createReader(
    {
      position: () => position,
      move: (to) => void (position = to),
      apply(writes, to) {
        applied.push(...writes);
        position = to;
      },
      backlog: () => [],
      backlogSent: () => {},
    },
    memoryLog().log,
  );
  return {
    asked,
    applied,
    mostWaiting: () => mostWaiting,
    append: () => void records.push(recordOf(records.length + 1)),
    catchUp: async () => reader.catchUp(session as LogSession),
  };
}

const recordOf = (n: number) =>
  encodeRecord({ epoch: 1, hub: 'other', isFirst: false, n, after: n - 1, writes: [`write ${n}`] });

test('a follower that is up to date asks for the next record and for the one after it', async () => {
  const { asked, applied, append, catchUp } = readerOf(0);
  await catchUp();
  expect(asked).toEqual([1]);
  append();
  await catchUp();
  expect(asked).toEqual([1, 1, 2]);
  expect(applied).toEqual(['write 1']);
});

test('a follower that is far behind asks for many at once, and applies them in order', async () => {
  const { applied, mostWaiting, catchUp } = readerOf(500);
  await catchUp();
  expect(applied).toEqual(Array.from({ length: 500 }, (_, index) => `write ${index + 1}`));
  expect(mostWaiting()).toBe(32);
});
