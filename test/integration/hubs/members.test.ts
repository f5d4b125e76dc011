import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { expect, test } from 'vitest';
import { leaseTimes } from '#hubs/lease.ts';
import { memberTimes } from '#hubs/leadership.ts';
import { Member, type MemberStatus } from '#hubs/member.ts';
import type { MemberStore } from '#hubs/member-store.ts';
import { beforeAll, type LogPosition } from '#hubs/position.ts';
import { type LogSession, openSession } from '#hubs/session.ts';
import { systemClock } from '#kernel/clock.ts';
import { startCluster } from '../../support/nats-cluster.ts';
import { natsObstacle } from '../../support/nats-server.ts';
import { eventually } from '../../support/program.ts';
import { quiet } from '../../support/remote-nodes.ts';

const obstacle = natsObstacle();
const named = (name: string) => `${name}${obstacle === null ? '' : ` (${obstacle})`}`;

/** A store in memory: what was applied, in order. */
function memoryStore() {
  let position: LogPosition | null = beforeAll;
  const applied: unknown[] = [];
  const backlog: Uint8Array[] = [];
  const store: MemberStore = {
    position: () => position,
    move: (next) => void (position = next),
    apply(writes, next) {
      position = next;
      applied.push(...writes);
    },
    backlog: () => [...backlog],
    backlogSent(next) {
      position = next;
      backlog.shift();
    },
  };
  return { store, applied, backlog };
}

/** Has two hubs take the lease at the same moment, and lets both pass, as a server may. */
function createFaultyLease(hubs: number) {
  const { promise, resolve } = Promise.withResolvers<void>();
  let asking = 0;
  return (session: LogSession): LogSession => {
    let isFirst = true;
    return {
      ...session,
      async putLease(lease, revision) {
        if (!isFirst) return session.putLease(lease, revision);
        isFirst = false;
        asking += 1;
        if (asking === hubs) resolve();
        await promise;
        const put = await session.putLease(lease, revision);
        return put ?? session.putLease(lease, (await session.lease())?.revision ?? 0);
      },
    };
  };
}

async function startMember(
  name: string,
  urls: readonly string[],
  stack: AsyncDisposableStack,
  { through = (session: LogSession) => session, times = memberTimes } = {},
) {
  const replicas = urls.length;
  const { store, applied, backlog } = memoryStore();
  const connection = await connect({
    servers: [...urls],
    maxReconnectAttempts: -1,
    reconnectTimeWait: 100,
    timeout: 2_000,
  });
  stack.defer(async () => connection.close());
  let session: Promise<LogSession> | null = null;
  const member: Member = new Member({
    name,
    store,
    async session() {
      session ??= openSession(connection, { replicas, timeoutMs: 2_000, onFailed: () => (session = null) }).then(
        through,
      );
      session.catch(() => (session = null));
      return session;
    },
    firstWrites: () => [`${name} leads`],
    onLead: () => {},
    onLost: () => {},
    onSnapshotNeeded: () => {},
    times,
    clock: systemClock,
    log: quiet,
  });
  stack.defer(async () => member.close());
  member.start();
  return {
    name,
    member,
    applied,
    /** What the store of a hub does: publishes, then commits. */
    async write(text: string) {
      const { position, backlog: kept } = await member.publish([text]);
      if (kept !== undefined) backlog.push(kept);
      store.apply([text], position);
      member.committed(position);
    },
  };
}

const roles = (all: readonly { readonly member: Member }[]): readonly MemberStatus['role'][] =>
  all.map(({ member }) => member.status().role);

test.skipIf(obstacle !== null).concurrent(
  named('hubs on three nats-servers go on with two of them, go on alone with one, and agree when all are back'),
  async () => {
    await using stack = new AsyncDisposableStack();
    const cluster = stack.use(await startCluster(3));
    const hubs: Awaited<ReturnType<typeof startMember>>[] = [];
    // On a busy machine the hub that was alone may need longer than ten seconds to come back. Then another leads, by right.
    const times = { ...memberTimes, takeAfterMs: 100_000 };
    for (const name of ['a', 'b', 'c']) hubs.push(await startMember(name, cluster.urls, stack, { times }));
    await eventually(60_000, () => expect([...roles(hubs)].sort()).toEqual(['follower', 'follower', 'leader']));
    const leader = hubs.find(({ member }) => member.status().role === 'leader');
    if (leader === undefined) throw new Error('no hub leads');
    await leader.write('one');
    await eventually(30_000, () => {
      for (const { applied } of hubs)
        expect(applied, JSON.stringify(hubs.map(({ member }) => member.status()))).toEqual([
          `${leader.name} leads`,
          'one',
        ]);
    });

    await cluster.stop(0);
    await eventually(60_000, async () => {
      const leading = hubs.find(({ member }) => member.status().role === 'leader');
      expect(leading).toBeDefined();
      await leading?.write('two');
      // What a hub writes that leads no more may be lost.
      await eventually(5_000, () => {
        for (const { applied } of hubs) expect(applied).toContain('two');
      });
    });

    await cluster.stop(1);
    const alone = await eventually(60_000, () => {
      const found = hubs.find(({ member }) => member.status().role === 'alone');
      if (found === undefined) throw new Error('no hub is alone');
      return found;
    });
    await alone.write('three');
    expect(hubs.filter(({ applied }) => applied.includes('three'))).toEqual([alone]);

    await cluster.start(0);
    await cluster.start(1);
    await eventually(90_000, () => {
      for (const { applied } of hubs) expect(applied).toEqual(alone.applied);
      expect(hubs.filter(({ member }) => member.status().role === 'leader')).toHaveLength(1);
    });
    const texts = alone.applied.filter((text) => !String(text).endsWith('leads'));
    expect(new Set(texts)).toEqual(new Set(['one', 'two', 'three']));
  },
  240_000,
);

test.skipIf(obstacle !== null).concurrent(
  named('of two hubs that take the lease at the same moment one leads, and goes on without a gap'),
  async () => {
    await using stack = new AsyncDisposableStack();
    const cluster = stack.use(await startCluster(1));
    const through = createFaultyLease(2);
    const hubs = await Promise.all(['a', 'b'].map(async (name) => startMember(name, cluster.urls, stack, { through })));
    const leader = await eventually(30_000, () => {
      const found = hubs.find(({ member }) => member.status().role === 'leader');
      if (found === undefined) throw new Error('no hub leads');
      return found;
    });
    // Longer than a lease is held that was not renewed, and than one that was not changed is left alone.
    const end = Date.now() + leaseTimes.takeAfterMs + leaseTimes.renewEveryMs;
    const texts = [`${leader.name} leads`];
    for (let n = 0; Date.now() < end; n += 1) {
      texts.push(`${n}`);
      await leader.write(`${n}`);
      expect([...roles(hubs)].sort()).toEqual(['follower', 'leader']);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    await eventually(30_000, () => {
      for (const { applied } of hubs) expect(applied).toEqual(texts);
    });
  },
  120_000,
);

test.skipIf(obstacle !== null).concurrent(
  named('a stream that is deleted while hubs use it begins anew, and hubs that applied the same go on from there'),
  async () => {
    await using stack = new AsyncDisposableStack();
    const cluster = stack.use(await startCluster(1));
    const hubs: Awaited<ReturnType<typeof startMember>>[] = [];
    for (const name of ['a', 'b']) hubs.push(await startMember(name, cluster.urls, stack));
    const leaderOf = async () =>
      eventually(60_000, () => {
        const found = hubs.find(({ member }) => member.status().role === 'leader');
        if (found === undefined) throw new Error('no hub leads');
        return found;
      });
    const first = await leaderOf();
    await first.write('one');
    await eventually(30_000, () => {
      for (const { applied } of hubs) expect(applied).toContain('one');
    });

    const connection = await connect({ servers: [...cluster.urls] });
    stack.defer(async () => connection.close());
    const manager = await jetstreamManager(connection);
    await manager.streams.delete('WP_LOG');
    await first.write('two');
    await eventually(60_000, () => {
      for (const { applied } of hubs) expect(applied).toContain('two');
    });
    const second = await leaderOf();
    await second.write('three');
    await eventually(30_000, () => {
      for (const { applied } of hubs) expect(applied).toEqual(first.applied);
      expect(first.applied).toContain('three');
    });
  },
  180_000,
);
