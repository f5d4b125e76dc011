import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { jetstreamManager } from '@nats-io/jetstream';
import { connectionTimes, dial } from '#transport/nats/connection.ts';
import { expect, test } from 'vitest';
import { type Fleet, roundsOf, startFleet } from '../../support/fleet.ts';
import { natsObstacle } from '../../support/nats-server.ts';
import { eventually, query } from '../../support/program.ts';

const obstacle = natsObstacle();
const named = (name: string) => `${name}${obstacle === null ? '' : ` (${obstacle})`}`;

async function startPair(options: Parameters<typeof startFleet>[0] = {}) {
  const fleet = await startFleet(options);
  const [a, b] = [fleet.hub('a'), fleet.hub('b')];
  await a.start();
  await fleet.leader();
  await b.start();
  await eventually(30_000, () => expect(roundsOf(b).length).toBeGreaterThan(3));
  return { fleet, a, b };
}

const subjectsOf = ({ smtp }: Fleet) => smtp.received.map(({ mail }) => mail.subject ?? '');
const aboutShop = (fleet: Fleet) => subjectsOf(fleet).filter((subject) => subject.includes('shop'));

/** Has the target fail and recover, and waits for the mails; gives when it failed. */
async function liveThroughOutage(fleet: Fleet): Promise<number> {
  const downAt = Date.now();
  await fleet.target.stop();
  await eventually(60_000, () => expect(aboutShop(fleet)).toHaveLength(1));
  await fleet.target.start();
  await eventually(60_000, () => expect(aboutShop(fleet)).toHaveLength(2));
  return downAt;
}

/** Both hubs have one incident of the target, which began when it failed. */
async function expectOneIncident(fleet: Fleet, downAt: number): Promise<void> {
  await fleet.agreed();
  await eventually(30_000, () => {
    for (const { program } of fleet.hubs) {
      const found = query(
        program.database,
        `SELECT started_at AS began FROM incidents WHERE rule = 'quick' AND ended_at IS NOT NULL`,
      );
      expect(found).toHaveLength(1);
      expect(Number(found[0]?.['began'])).toBeGreaterThan(downAt - 2_000);
      expect(Number(found[0]?.['began'])).toBeLessThan(downAt + 8_000);
    }
  });
}

async function limitStream({ nats }: Fleet, limit: { readonly max_msgs: number }): Promise<void> {
  const connection = await dial({ ...nats.account(), name: 'test' }, connectionTimes);
  try {
    const manager = await jetstreamManager(connection);
    const { config } = await manager.streams.info('WP_LOG');
    await manager.streams.update('WP_LOG', { ...config, ...limit, discard: 'new' });
  } finally {
    await connection.close();
  }
}

test.skipIf(obstacle !== null).concurrent(
  named('a stream that takes no writes: the leader goes on alone and says so, and the outage is reported once'),
  async () => {
    const { fleet, a } = await startPair({ notifyAfter: '3s', nodes: [], embedded: { a: 'de1', b: 'us1' } });
    await using _ = fleet;
    await limitStream(fleet, { max_msgs: 1 });
    await a.running?.logged(/goes on alone/);
    const downAt = await liveThroughOutage(fleet);
    await eventually(30_000, () =>
      expect(subjectsOf(fleet).filter((subject) => subject.includes('hub a: it leads alone'))).toHaveLength(1),
    );
    await limitStream(fleet, { max_msgs: -1 });
    await a.running?.logged(/leads on/);
    await expectOneIncident(fleet, downAt);
    expect(aboutShop(fleet)).toHaveLength(2);
  },
  180_000,
);

test.skipIf(obstacle !== null).concurrent(
  named('a nats-server that lost its data: the hubs make the log anew, and the outage meanwhile is reported once'),
  async () => {
    const { fleet } = await startPair({ nodes: [], embedded: { a: 'de1', b: 'us1' } });
    await using _ = fleet;
    await fleet.nats.stop();
    rmSync(join(fleet.nats.folder, 'jetstream'), { recursive: true });
    const downAt = Date.now();
    await fleet.target.stop();
    await fleet.nats.start();
    await eventually(60_000, () => expect(aboutShop(fleet)).toHaveLength(1));
    await fleet.target.start();
    await eventually(60_000, () => expect(aboutShop(fleet)).toHaveLength(2));
    await fleet.leader();
    await expectOneIncident(fleet, downAt);
    expect(aboutShop(fleet)).toHaveLength(2);
  },
  180_000,
);

test.skipIf(obstacle !== null).concurrent(
  named('answers of NATS do not reach the leader, which reaches NATS: each side reports the outage once'),
  async () => {
    const { fleet, a } = await startPair({ nodes: [], embedded: { a: 'de1', b: 'us1' } });
    await using _ = fleet;
    a.link.swallow('answers');
    await a.running?.logged(/goes on alone/);
    await fleet.leader('a');
    const downAt = Date.now();
    await fleet.target.stop();
    await eventually(60_000, () => expect(aboutShop(fleet)).toHaveLength(2));
    a.link.mend();
    await a.running?.logged(/the history is that of the other hubs/);
    await fleet.target.start();
    await eventually(60_000, () => expect(aboutShop(fleet)).toHaveLength(3));
    await expectOneIncident(fleet, downAt);
    expect(aboutShop(fleet)).toHaveLength(3);
  },
  180_000,
);
