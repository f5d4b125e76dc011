import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writeFileSync } from 'node:fs';
import { type FleetHub, startFleet, votesOf } from '../../support/fleet.ts';
import { natsObstacle } from '../../support/nats-server.ts';
import { eventually } from '../../support/program.ts';

const obstacle = natsObstacle();
const named = (name: string) => `${name}${obstacle === null ? '' : ` (${obstacle})`}`;

const ups = (hub: FleetHub, node: string) => votesOf(hub, node).filter(({ status }) => status === 'up');

/** Waits until a node has been up for some seconds from now on. */
const isUp = async (hub: FleetHub, node: string): Promise<void> => {
  const since = Date.now();
  await eventually(60_000, () => expect(ups(hub, node).at(-1)?.due, node).toBeGreaterThan(since + 5_000));
};

test.skipIf(obstacle !== null).concurrent(
  named('nodes inside hubs come and go by reloads, at the hub that leads and at one that follows'),
  async () => {
    let config = '';
    const keep = (text: string) => (config = text);
    await using fleet = await startFleet({ nodes: [], embedded: { a: 'de1', b: 'us1' } });
    const [a, b] = [fleet.hub('a'), fleet.hub('b')];
    await a.start(keep);
    const ofA = config;
    await fleet.leader();
    await b.start(keep);
    const ofB = config;
    await isUp(a, 'us1');

    const reload = (hub: FleetHub, text: string) => {
      writeFileSync(join(hub.program.folder, 'watchpost.yaml'), text);
      hub.running?.process.kill('SIGHUP');
    };
    const without = (text: string, node: string) => text.replace(`nodes: { ${node}: {} }`, 'nodes: {}');
    reload(b, without(ofB, 'us1'));
    await eventually(30_000, () => expect(votesOf(a, 'us1').at(-1)?.status).toBe('unknown'));
    reload(b, ofB);
    await isUp(a, 'us1');

    reload(a, without(ofA, 'de1'));
    await eventually(60_000, () => expect(votesOf(a, 'de1').at(-1)?.status).toBe('unknown'));
    await isUp(a, 'us1');
    reload(a, ofA);
    await isUp(a, 'de1');
    await isUp(a, 'us1');
    expect(fleet.smtp.received).toEqual([]);

    // What was reloaded stays in force for a hub that leads no more.
    reload(a, without(ofA, 'de1'));
    await eventually(60_000, () => expect(votesOf(a, 'de1').at(-1)?.status).toBe('unknown'));
    await a.yield();
    await fleet.leader('a');
    await isUp(b, 'us1');
    expect(votesOf(b, 'de1').at(-1)?.status).toBe('unknown');
  },
  240_000,
);

test.skipIf(obstacle !== null).concurrent(
  named('two hubs with a node of the same name: that of the hub that leads checks, and the other one waits'),
  async () => {
    await using fleet = await startFleet({ nodes: [], embedded: { a: 'de1', b: 'de1' } });
    const [a, b] = [fleet.hub('a'), fleet.hub('b')];
    await a.start();
    await fleet.leader();
    await b.start();
    await isUp(b, 'de1');
    const rate = async () => {
      const before = fleet.target.requests;
      await new Promise((resolve) => setTimeout(resolve, 6_000));
      return (fleet.target.requests - before) / 6;
    };
    expect(await rate()).toBeLessThan(1.5);
    await a.yield();
    await fleet.leader('a');
    await isUp(a, 'de1');
    expect(await rate()).toBeLessThan(1.5);
    await b.running?.end('SIGKILL');
    await fleet.leader('b');
    await isUp(a, 'de1');
    expect(fleet.smtp.received).toEqual([]);
  },
  180_000,
);
