import { randomBytes } from 'node:crypto';
import type { NatsConnection } from '@nats-io/transport-node';
import { expect, test } from 'vitest';
import { Leadership, memberTimes } from '#hubs/leadership.ts';
import type { MemberStore } from '#hubs/member-store.ts';
import type { LogPosition } from '#hubs/position.ts';
import { createReader } from '#hubs/reader.ts';
import type { LogSession } from '#hubs/session.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { memoryLog } from '../../support/memory-log.ts';

const mostBytes = 1_000;

/** A hub that leads, over a log that may be away. */
function openTerm(clock: FakeClock) {
  let isAway = false;
  let lease = { hub: 'a', epoch: 1, isReleased: false, revision: 1 };
  const log: Uint8Array[] = [];
  const backlog: Uint8Array[] = [];
  let position: LogPosition = { sequence: 0, epoch: 1, n: 0 };
  const answer = async <Result>(result: () => Result): Promise<Result> => {
    if (isAway) throw new Error('no answer');
    return result();
  };
  const session: LogSession = {
    connection: {} as NatsConnection,
    mostBytes,
    lease: async () => answer(() => lease),
    putLease: async (next) =>
      answer(() => {
        lease = { ...next, revision: lease.revision + 1 };
        return lease.revision;
      }),
    read: async (sequence) => answer(() => log[sequence - 1] ?? null),
    bounds: async () => answer(() => ({ first: 1, last: log.length })),
    append: async (bytes) =>
      answer(() => {
        if (bytes.length > mostBytes) throw new Error('max payload exceeded');
        return log.push(bytes);
      }),
  };
  const store: MemberStore = {
    position: () => position,
    move: (to) => void (position = to),
    apply: (_, to) => void (position = to),
    backlog: () => [...backlog],
    backlogSent(to) {
      backlog.shift();
      position = to;
    },
  };
  const reader = createReader(store, memoryLog().log);
  const term = new Leadership({
    name: 'a',
    epoch: 1,
    revision: 1,
    askedAt: clock.elapsed(),
    mostBytes,
    store,
    reader,
    session: async () => session,
    times: memberTimes,
    clock,
    log: memoryLog().log,
    onLost: () => {},
    onChange: () => {},
  });
  return {
    term,
    log,
    away: (away: boolean) => void (isAway = away),
    /** Writes and commits a record, as the store does. */
    async write(text: string): Promise<void> {
      const written = await term.publish([text]);
      if (written.backlog !== undefined) backlog.push(written.backlog);
      position = written.position;
      reader.moved(position);
      term.committed();
    },
  };
}

test('a hub that is alone writes nothing that the log could not take when it is back', async () => {
  const clock = new FakeClock();
  const world = openTerm(clock);
  const { term, log, away } = world;
  away(true);
  const first = world.write('short');
  await clock.advance(10_000);
  await first;
  expect(term.isAlone).toBe(true);
  const long = randomBytes(mostBytes).toString('hex');
  await expect(world.write(long)).rejects.toThrow(RangeError);
  await world.write('another');
  away(false);
  await term.step();
  expect([term.isAlone, log.length]).toEqual([false, 2]);
});
