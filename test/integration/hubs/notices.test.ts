import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type FleetHub, startFleet } from '../../support/fleet.ts';
import { natsObstacle } from '../../support/nats-server.ts';
import { eventually } from '../../support/program.ts';

const obstacle = natsObstacle();

const textOf = async ({ url }: FleetHub, path: string) => (await fetch(`${url}${path}`)).text();

test.skipIf(obstacle !== null)(
  `the leader notifies once that another hub is degraded, a follower that none leads, and both of the end${obstacle === null ? '' : ` (${obstacle})`}`,
  async () => {
    // Longer than the second hub takes to get the history, on a busy machine too.
    await using fleet = await startFleet({ notifyAfter: '8s' });
    const [a, b] = [fleet.hub('a'), fleet.hub('b')];
    const subjects = async (count: number) => {
      await fleet.smtp.mails(count);
      return fleet.smtp.received.map(({ mail }) => mail.subject);
    };
    await a.start();
    await fleet.leader();
    await b.start();
    await b.running?.logged(/the history is that of the other hubs/);
    await eventually(30_000, async () => {
      expect(await textOf(b, '/')).toContain('Hub b follows hub a.');
      expect(await textOf(a, '/')).toMatch(/Hub a leads.</);
      const metrics = await textOf(b, '/metrics');
      expect(metrics).toMatch(/^watchpost_hub_leader 0$/m);
      expect(metrics).toMatch(/^watchpost_hub_lag_records \d$/m);
      expect(await textOf(a, '/metrics')).toMatch(/^watchpost_hub_degraded\{hub="b"\} 0$/m);
    });

    await b.running?.end('SIGKILL');
    expect(await subjects(1)).toEqual([expect.stringContaining('[DEGRADED] hub b: it does not answer')]);
    expect(await textOf(a, '/')).toContain('Hub b is degraded: it does not answer.');
    const degraded = await textOf(a, '/metrics');
    expect(degraded).toMatch(/^watchpost_hub_leader 1$/m);
    expect(degraded).toMatch(/^watchpost_hub_degraded\{hub="b"\} 1$/m);

    await b.start((config) => config.replace('timeout: 900ms', 'timeout: 800ms'));
    await eventually(30_000, async () =>
      expect(await textOf(a, '/')).toContain('Hub b is degraded: its configuration differs from that of a.'),
    );
    await b.running?.end('SIGTERM');
    await b.start();
    expect(await subjects(2)).toHaveLength(2);
    expect(await textOf(a, '/')).not.toContain('is degraded');

    await a.running?.end('SIGKILL');
    await fleet.nats.stop();
    const unled = await subjects(3);
    expect(unled[2]).toContain('[NO LEADER] hubs: ');
    expect(fleet.smtp.received[2]?.mail.text).toContain('hub b');
    expect(await textOf(b, '/')).toContain('Hub b sees no hub that leads: what is shown may be old.');
    expect(await textOf(b, '/metrics')).toMatch(/^watchpost_hub_leaderless_seconds [1-9]/m);
    // It does not notify anew after a restart, and knows what is to end.
    const notice = `${b.program.database}.no-leader`;
    await eventually(10_000, () => expect(existsSync(notice)).toBe(true));
    await b.running?.end('SIGKILL');
    await b.start();
    await b.running?.logged(/no hub leads as far as this one can see/);
    expect(fleet.smtp.received).toHaveLength(3);
    await fleet.nats.start();
    await fleet.leader();
    const led = await subjects(4);
    expect(led.filter((subject) => subject?.includes('] hubs:'))).toHaveLength(2);
    await eventually(10_000, () => expect(existsSync(notice)).toBe(false));
    // A hub that was not there since the restart is not known to be one of them.
    await a.start();
    await fleet.agreed();
    expect(fleet.smtp.received).toHaveLength(4);
    expect(await textOf(b, '/metrics')).toMatch(/^watchpost_hub_leaderless_seconds 0$/m);
  },
  180_000,
);
