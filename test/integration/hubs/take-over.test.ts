import { expect, test } from 'vitest';
import { type Fleet, type FleetHub, roundsOf, startFleet } from '../../support/fleet.ts';
import { natsObstacle } from '../../support/nats-server.ts';
import { eventually, query } from '../../support/program.ts';

const obstacle = natsObstacle();
const named = (name: string) => `${name}${obstacle === null ? '' : ` (${obstacle})`}`;

const incidentsIn = (database: string) =>
  query(database, 'SELECT id, started_at AS began, ended_at AS ended FROM incidents ORDER BY id');

/** The distances of rounds that were due one after another, in milliseconds. */
function gaps(fleet: Fleet, hub: string): ReadonlySet<number> {
  const dues = roundsOf(fleet.hub(hub)).map(({ due }) => due);
  return new Set(dues.slice(1).map((due, index) => due - (dues[index] ?? 0)));
}

test.skipIf(obstacle !== null)(
  named(
    'the leader is killed during an outage: the next one reports it once, with the right start, and no round is missing',
  ),
  async () => {
    await using fleet = await startFleet();
    const [a, b] = [fleet.hub('a'), fleet.hub('b')];
    await a.start();
    await fleet.leader();
    await b.start();
    await eventually(30_000, () => expect(roundsOf(b).length).toBeGreaterThan(3));
    expect((await fleet.statuses()).map(({ name, role }) => [name, role])).toEqual([
      ['a', 'leader'],
      ['b', 'follower'],
    ]);

    await a.running?.end('SIGKILL');
    const downAt = Date.now();
    await fleet.target.stop();
    await fleet.leader('a');
    const [mail] = await fleet.smtp.mails(1);
    expect(mail?.mail.subject).toMatch(/shop/);
    const [incident] = incidentsIn(b.program.database);
    expect(Number(incident?.['began'])).toBeGreaterThan(downAt - 1_000);
    expect(Number(incident?.['began'])).toBeLessThan(downAt + 3_000);

    await fleet.target.start();
    await fleet.smtp.mails(2);
    await a.start();
    await fleet.agreed();
    await eventually(10_000, () => expect(roundsOf(a).length).toBeGreaterThan(20));
    expect(gaps(fleet, 'b')).toEqual(new Set([1_000]));
    expect(gaps(fleet, 'a')).toEqual(new Set([1_000]));
    expect(incidentsIn(a.program.database)).toEqual(incidentsIn(b.program.database));
    const page = async ({ url }: FleetHub) => {
      const answer = await fetch(`${url}/incidents/${String(incident?.['id'])}`, { headers: { accept: 'text/html' } });
      expect(answer.status).toBe(200);
      return (await answer.text()).replace(/Hub [ab] (leads|follows hub [ab])\./, 'Hub');
    };
    await eventually(10_000, async () => expect(await page(a)).toBe(await page(b)));
    expect(await page(a)).toContain('shop');
    expect(fleet.smtp.received).toHaveLength(2);
  },
  180_000,
);
