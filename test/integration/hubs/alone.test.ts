import { expect, test } from 'vitest';
import { type FleetHub, roundsOf, startFleet, votesOf } from '../../support/fleet.ts';
import { historyOf, snapshotOf } from '../../support/fleet-history.ts';
import { natsObstacle } from '../../support/nats-server.ts';
import { eventually, query } from '../../support/program.ts';

const obstacle = natsObstacle();
const named = (name: string) => `${name}${obstacle === null ? '' : ` (${obstacle})`}`;

const upsOf = (hub: FleetHub, node: string) => votesOf(hub, node).filter(({ status }) => status === 'up').length;

test.skipIf(obstacle !== null).concurrent(
  named('all of NATS is down during an outage: the hub that led reports it once, and afterwards all histories agree'),
  async () => {
    await using fleet = await startFleet({ nodes: [], embedded: { a: 'de1', b: 'us1' } });
    const [a, b] = [fleet.hub('a'), fleet.hub('b')];
    await a.start();
    await fleet.leader();
    await b.start();
    await eventually(30_000, () => expect(roundsOf(b).length).toBeGreaterThan(3));

    await fleet.nats.stop();
    await a.running?.logged(/goes on alone/);
    await fleet.target.stop();
    await fleet.smtp.mails(1);
    await fleet.target.start();
    await fleet.smtp.mails(2);
    for (const { mail } of fleet.smtp.received)
      expect(mail.text).toContain('Hub a leads alone at the moment: another hub may send the same.');
    const alone = roundsOf(a).length;
    await eventually(30_000, () => expect(roundsOf(a).length).toBeGreaterThan(alone + 3));
    expect(roundsOf(b).length).toBeLessThan(alone);

    await fleet.nats.start();
    await a.running?.logged(/leads on/);
    await eventually(60_000, () => expect(roundsOf(b).length).toBeGreaterThan(alone));
    await a.running?.end('SIGTERM');
    await fleet.leader('a');
    await a.start();
    await fleet.agreed();
    await eventually(60_000, () => {
      const [ofA, ofB] = [snapshotOf(a), snapshotOf(b)];
      expect(ofA.position).toBe(ofB.position);
      expect(ofA.history).toEqual(ofB.history);
    });
    await b.running?.end('SIGTERM');
    await a.running?.end('SIGTERM');
    const notified = historyOf(a).deliveries.filter(({ kind }) => kind !== 'reminder');
    expect(notified.map(({ kind, state }) => [kind, state])).toEqual([
      ['opened', 'sent'],
      ['resolved', 'sent'],
    ]);
    expect(fleet.smtp.received).toHaveLength(2);
  },
  180_000,
);

test.skipIf(obstacle !== null).concurrent(
  named('the leader is cut off from NATS during an outage: both hubs report it, and afterwards all histories agree'),
  async () => {
    await using fleet = await startFleet({ nodes: [], embedded: { a: 'de1', b: 'us1' } });
    const [a, b] = [fleet.hub('a'), fleet.hub('b')];
    await a.start();
    await fleet.leader();
    await b.start();
    // Until it is assigned the target a node is asked, and what it answers to a hub that is gone is late at the next one.
    await eventually(30_000, () => expect(upsOf(b, 'us1')).toBeGreaterThan(3));

    a.link.swallow();
    const cutAt = Date.now();
    await a.running?.logged(/goes on alone/);
    await fleet.leader('a');
    await fleet.target.stop();
    await fleet.smtp.mails(2);
    expect(fleet.smtp.received.map(({ mail }) => mail.subject?.includes('shop'))).toEqual([true, true]);
    await eventually(30_000, () =>
      expect(roundsOf(b).filter(({ status }) => status === 'down').length).toBeGreaterThan(3),
    );

    a.link.mend();
    await a.running?.logged(/the history is that of the other hubs/);
    await fleet.agreed();
    const late = query(
      b.program.database,
      `SELECT node, status FROM history WHERE late_at IS NOT NULL AND due_at > ${cutAt}`,
    );
    expect(late.filter(({ status }) => status === 'down').length).toBeGreaterThan(2);
    expect(new Set(late.map(({ node }) => node))).toEqual(new Set(['de1']));
    await fleet.target.start();
    await eventually(30_000, () =>
      expect(query(b.program.database, 'SELECT ended_at FROM incidents')).not.toContainEqual({ ended_at: null }),
    );
    await fleet.agreed();
    await b.running?.end('SIGTERM');
    await a.running?.end('SIGTERM');
    expect(historyOf(a).incidents).toEqual(historyOf(b).incidents);
    expect(historyOf(a).incidents.filter(({ rule }) => rule === 'quick')).toHaveLength(1);
  },
  180_000,
);
