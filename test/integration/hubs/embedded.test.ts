import { expect, test } from 'vitest';
import { type FleetHub, startFleet, votesOf } from '../../support/fleet.ts';
import { historyOf } from '../../support/fleet-history.ts';
import { natsObstacle } from '../../support/nats-server.ts';
import { eventually, query } from '../../support/program.ts';

const obstacle = natsObstacle();
const named = (name: string) => `${name}${obstacle === null ? '' : ` (${obstacle})`}`;

/** Its own votes: on a busy machine it may have been held up for a moment, and says so; what is said in its place is none. */
const given = (hub: FleetHub, node: string) =>
  historyOf(hub).results.filter(
    (one) => one.node === node && (one.status !== unknown || one.failure?.includes('this node was held up') === true),
  );
const unknown = 2;

const ups = (hub: FleetHub, node: string) => votesOf(hub, node).filter(({ status }) => status === 'up');

/** The distances of its votes, in milliseconds. */
const gapsOf = (hub: FleetHub, node: string): ReadonlySet<number> => {
  const dues = given(hub, node).map(({ due_at: due }) => due);
  return new Set(dues.slice(1).map((due, index) => due - (dues[index] ?? 0)));
};

/** Due times between its first vote and its last without one, with what there is instead, in seconds from a moment. */
const missingOf = (hub: FleetHub, node: string, from: number): readonly string[] => {
  const dues = given(hub, node).map(({ due_at: due }) => due);
  const instead = new Map(
    historyOf(hub).results.flatMap((one) => (one.node === node ? [[one.due_at, one.failure] as const] : [])),
  );
  const [first = 0, last = 0] = [dues[0], dues.at(-1)];
  const missing: string[] = [];
  for (let due = first; due < last; due += 1_000)
    if (!dues.includes(due)) missing.push(`${(due - from) / 1_000} s: ${instead.get(due) ?? 'nothing'}`);
  return missing;
};

async function startPair(options: Parameters<typeof startFleet>[0] = {}, edit = (config: string) => config) {
  const fleet = await startFleet({ nodes: [], embedded: { a: 'de1', b: 'us1' }, ...options });
  const [a, b] = [fleet.hub('a'), fleet.hub('b')];
  await a.start(edit);
  await fleet.leader();
  await b.start(edit);
  await b.running?.logged(/the history is that of the other hubs/);
  await eventually(60_000, () => {
    for (const node of ['de1', 'us1']) expect(ups(b, node).length, node).toBeGreaterThan(5);
  });
  return { fleet, a, b };
}

test.skipIf(obstacle !== null)(
  named('the node inside each hub checks for the one that leads; if that is killed, the node inside the other goes on'),
  async () => {
    const { fleet, a, b } = await startPair();
    await using _ = fleet;
    const killedAt = Date.now();
    await a.running?.end('SIGKILL');
    await fleet.leader('a');
    await b.running?.logged(/judged what nodes observed/);
    const led = b.running?.log.find(({ msg }) => msg === 'this hub leads')?.['time'];
    const judged = b.running?.log.find(({ msg }) => msg.startsWith('judged what nodes observed'))?.['time'];
    // Nothing is awaited of a node that was silent before.
    expect(Date.parse(String(judged)) - Date.parse(String(led))).toBeLessThan(10_000);
    await eventually(60_000, () => expect(ups(b, 'us1').at(-1)?.due).toBeGreaterThan(killedAt + 15_000));
    expect(missingOf(b, 'us1', killedAt)).toEqual([]);
    const meanwhile = votesOf(b, 'de1').filter(({ due }) => due > killedAt + 1_000);
    expect(meanwhile.length).toBeGreaterThan(10);
    expect(new Set(meanwhile.map(({ status }) => status))).toEqual(new Set(['unknown']));

    await a.start();
    const backAt = Date.now();
    await eventually(60_000, () => expect(ups(b, 'de1').at(-1)?.due).toBeGreaterThan(backAt + 5_000));
    await b.yield();
    await fleet.leader('b');
    const yieldedAt = Date.now();
    await eventually(60_000, () => {
      for (const node of ['de1', 'us1']) expect(ups(a, node).at(-1)?.due, node).toBeGreaterThan(yieldedAt + 5_000);
    });
    await fleet.agreed();
    expect(gapsOf(a, 'us1')).toEqual(new Set([1_000]));
    const since = votesOf(a, 'de1').filter(({ due }) => due > backAt + 5_000);
    expect(new Set(since.map(({ status }) => status))).toEqual(new Set(['up']));
    expect(fleet.smtp.received).toEqual([]);
    await a.running?.end('SIGTERM');
    await b.running?.end('SIGTERM');
    const doubles = query(
      b.program.database,
      `SELECT due_at, node, count(*) AS votes FROM history WHERE target = 'shop' GROUP BY 1, 2 HAVING votes > 1`,
    );
    expect(doubles).toEqual([]);
  },
  240_000,
);

test.skipIf(obstacle !== null)(
  named(
    'all of NATS is away: the hub that led goes on alone with the node inside it, and afterwards all histories agree',
  ),
  async () => {
    const { fleet, a, b } = await startPair();
    await using _ = fleet;
    await fleet.nats.stop();
    const stoppedAt = Date.now();
    await a.running?.logged(/goes on alone/);
    await eventually(60_000, () => expect(ups(a, 'de1').at(-1)?.due).toBeGreaterThan(stoppedAt + 10_000));
    expect(gapsOf(a, 'de1')).toEqual(new Set([1_000]));

    await fleet.nats.start();
    await a.running?.logged(/leads on/);
    const backAt = Date.now();
    await eventually(90_000, () => {
      for (const node of ['de1', 'us1']) expect(ups(b, node).at(-1)?.due, node).toBeGreaterThan(backAt + 5_000);
    });
    await b.running?.end('SIGTERM');
    await b.start();
    await fleet.agreed();
    await b.running?.end('SIGTERM');
    await a.running?.end('SIGTERM');
    expect(gapsOf(a, 'de1')).toEqual(new Set([1_000]));
    expect(new Set(votesOf(a, 'de1').map(({ status }) => status))).toEqual(new Set(['up']));
    expect(historyOf(b).results).toEqual(historyOf(a).results.slice(0, historyOf(b).results.length));
    expect(fleet.smtp.received).toEqual([]);
  },
  240_000,
);

test.skipIf(obstacle !== null)(
  named('a follower is suspended: its node is unknown meanwhile, nothing is notified, and it is back with its hub'),
  async () => {
    const { fleet, a, b } = await startPair({ nodes: ['nl1'] });
    await using _ = fleet;
    b.running?.process.kill('SIGSTOP');
    const stoppedAt = Date.now();
    await eventually(60_000, () => expect(ups(a, 'de1').at(-1)?.due).toBeGreaterThan(stoppedAt + 25_000));
    b.running?.process.kill('SIGCONT');
    const backAt = Date.now();
    await eventually(60_000, () => expect(ups(a, 'us1').at(-1)?.due).toBeGreaterThan(backAt + 5_000));
    for (const node of ['de1', 'nl1']) expect(missingOf(a, node, stoppedAt), node).toEqual([]);
    const meanwhile = votesOf(a, 'us1').filter(({ due }) => due > stoppedAt + 1_000 && due < backAt - 1_000);
    expect(new Set(meanwhile.map(({ status }) => status))).toEqual(new Set(['unknown']));
    expect(fleet.smtp.received).toEqual([]);
    await fleet.agreed();
  },
  240_000,
);

test.skipIf(obstacle !== null).concurrent(
  named('checks of callers run on the nodes inside each hub, whichever hub they ask'),
  async () => {
    const { fleet, a, b } = await startPair({}, (config) => `${config}service: {}\n`);
    await using _ = fleet;
    const accept = { headers: { accept: 'application/json' } };
    for (const { url } of [a, b]) {
      const started = await fetch(`${url}/check-http?host=${encodeURIComponent(fleet.target.url)}`, accept);
      const { request_id: id } = (await started.json()) as { readonly request_id: string };
      await eventually(20_000, async () => {
        const result = await (await fetch(`${url}/check-result/${id}?wait=5`, accept)).json();
        const said = Object.entries(result as object).map(([node, said]) => [node.slice(0, 3), JSON.stringify(said)]);
        expect(Object.fromEntries(said)).toEqual({
          de1: expect.stringContaining('"OK"'),
          us1: expect.stringContaining('"OK"'),
        });
      });
    }
  },
  120_000,
);

test.skipIf(obstacle !== null).concurrent(
  named('nodes without keys check only while their hub leads, and the log says what to do'),
  async () => {
    await using fleet = await startFleet({ nodes: [], embedded: { a: 'de1', b: 'us1' }, isEnrolled: false });
    const [a, b] = [fleet.hub('a'), fleet.hub('b')];
    await a.start();
    await fleet.leader();
    await b.start();
    const { msg } = await eventually(10_000, async () => b.running?.logged(/has no key/) ?? { msg: '' });
    expect(msg).toBe(
      'this node has no key and checks only while this hub leads: enrol it with "watchpost nodes add us1", and restart this hub',
    );
    await eventually(30_000, () => expect(ups(b, 'de1').length).toBeGreaterThan(5));
    await b.running?.logged(/the history is that of the other hubs/);
    await a.yield();
    await fleet.leader('a');
    await eventually(30_000, () => expect(ups(b, 'us1').length).toBeGreaterThan(5));
    expect(fleet.smtp.received).toEqual([]);
  },
  120_000,
);

test.skipIf(obstacle !== null).concurrent(
  named('an outage is confirmed by the nodes inside both hubs, and they gather evidence of it'),
  async () => {
    const { fleet, a, b } = await startPair({}, (config) => config.replace(', confirm: false', ''));
    await using _ = fleet;
    await fleet.target.stop();
    await fleet.smtp.mails(1);
    await eventually(30_000, () =>
      expect(query(b.program.database, 'SELECT DISTINCT node FROM evidence ORDER BY 1')).toEqual([
        { node: 'de1' },
        { node: 'us1' },
      ]),
    );
    await fleet.target.start();
    await fleet.smtp.mails(2);
    await fleet.agreed();
    for (const { running } of [a, b])
      expect(running?.log.filter(({ msg }) => /refused|discarded/.test(msg)).map(({ msg }) => msg)).toEqual([]);
  },
  120_000,
);

test.skipIf(obstacle !== null)(
  named('a leader that is stopped has the next one judge what the node inside it saw until then'),
  async () => {
    const { fleet, a, b } = await startPair();
    await using _ = fleet;
    const stoppedAt = Date.now();
    await a.running?.end('SIGTERM');
    await fleet.leader('a');
    await eventually(30_000, () => expect(ups(b, 'us1').at(-1)?.due).toBeGreaterThan(stoppedAt + 5_000));
    const before = votesOf(b, 'de1').filter(({ due }) => due < stoppedAt);
    expect(new Set(before.map(({ status }) => status))).toEqual(new Set(['up']));
    expect(gapsOf(b, 'de1')).toEqual(new Set([1_000]));
    expect(fleet.smtp.received).toEqual([]);
  },
  120_000,
);
