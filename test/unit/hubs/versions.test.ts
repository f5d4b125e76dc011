import { deflateRawSync } from 'node:zlib';
import type { NatsConnection } from '@nats-io/transport-node';
import { expect, test } from 'vitest';
import type { Lease } from '#hubs/lease.ts';
import { Member } from '#hubs/member.ts';
import type { LogPosition } from '#hubs/position.ts';
import { encodeRecord } from '#hubs/record.ts';
import type { LogSession } from '#hubs/session.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { memoryLog } from '../../support/memory-log.ts';

const head = { epoch: 1, hub: 'other', isFirst: false };
const known = (n: number) => encodeRecord({ ...head, n, after: n - 1, writes: [`write ${n}`] });
const newer = (n: number) => deflateRawSync(JSON.stringify({ v: 2, ...head, n, after: n - 1, changes: {} }));

/** A hub that follows a log of these messages, whose lease nobody holds. */
function follow(messages: Uint8Array[]) {
  const clock = new FakeClock('2026-01-01T00:00:00Z');
  const { log, lines } = memoryLog();
  const applied: unknown[] = [];
  let position: LogPosition = { sequence: 0, epoch: 1, n: 0 };
  let lease: Lease | null = null;
  const session: LogSession = {
    connection: {} as NatsConnection,
    lease: async () => lease,
    async putLease(put) {
      lease = { ...put, revision: (lease?.revision ?? 0) + 1 };
      return lease.revision;
    },
    read: async (sequence) => messages[sequence - 1] ?? null,
    bounds: async () => ({ first: 1, last: messages.length }),
    mostBytes: 100_000,
    append: async (bytes) => messages.push(bytes),
  };
  const member = new Member({
    name: 'own',
    store: {
      position: () => position,
      move: (to) => void (position = to),
      apply(writes, to) {
        applied.push(...writes);
        position = to;
      },
      backlog: () => [],
      backlogSent: () => {},
    },
    session: async () => session,
    firstWrites: () => [],
    onLead: () => {},
    onLost: () => {},
    onSnapshotNeeded: () => applied.push('a snapshot'),
    clock,
    log,
  });
  member.start();
  return { clock, lines, applied, member, lease: () => lease };
}

test('a hub stops applying at a record of a newer version, says so once, and never leads', async () => {
  const { clock, lines, applied, member, lease } = follow([known(1), newer(2), known(3)]);
  await clock.advance(120_000);
  expect(applied).toEqual(['write 1']);
  expect(member.status()).toMatchObject({ role: 'follower', applied: { sequence: 1 } });
  expect(lease()).toBeNull();
  expect(lines.map(({ msg }) => msg)).toEqual(['a newer version wrote to the log of the hubs: upgrade this hub']);
  await member.close();
});

test('without such a record the same hub applies everything and leads', async () => {
  const { clock, applied, member, lease } = follow([known(1), known(2)]);
  await clock.advance(120_000);
  expect(applied).toEqual(['write 1', 'write 2']);
  expect(member.status()).toMatchObject({ role: 'leader', epoch: 2 });
  expect(lease()).toMatchObject({ hub: 'own', epoch: 2 });
  await member.close();
});
