import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commandHere } from '../../support/command.ts';
import { type Fleet, roundsOf, startFleet } from '../../support/fleet.ts';
import { natsObstacle } from '../../support/nats-server.ts';
import { eventually } from '../../support/program.ts';

const obstacle = natsObstacle();
const named = (name: string) => `${name}${obstacle === null ? '' : ` (${obstacle})`}`;

const gapsOf = (rounds: readonly { readonly due: number }[]) =>
  new Set(rounds.slice(1).map(({ due }, index) => due - (rounds[index]?.due ?? 0)));

/** Hub a leads at first, and at last. */
async function handOver(fleet: Fleet): Promise<void> {
  const [a, b] = [fleet.hub('a'), fleet.hub('b')];
  expect(await a.running?.end('SIGTERM')).toEqual({ code: 0, signal: null });
  await fleet.leader('a');
  const first = roundsOf(b).length;
  await eventually(30_000, () => expect(roundsOf(b).length).toBeGreaterThan(first + 5));

  await a.start();
  await fleet.agreed();
  const shown = await commandHere(['hubs', '--config', join(a.program.folder, 'watchpost.yaml')]);
  expect(shown.code).toBe(0);
  expect(shown.out).toMatch(/^a +follower .*\nb +leader /m);
  await b.yield();
  await fleet.leader('b');
  await eventually(30_000, async () => {
    expect((await fleet.statuses()).map(({ role }) => role)).toEqual(['leader', 'follower']);
  });
  const second = roundsOf(a).length;
  await eventually(30_000, () => expect(roundsOf(a).length).toBeGreaterThan(second + 5));
  await fleet.agreed();
  expect(gapsOf(roundsOf(a))).toEqual(new Set([1_000]));
  expect(gapsOf(roundsOf(b))).toEqual(new Set([1_000]));
  expect(new Set(roundsOf(a).map(({ status }) => status))).toEqual(new Set(['up']));
  expect(fleet.smtp.received).toEqual([]);
}

async function suspendLeader(fleet: Fleet): Promise<void> {
  const [a, b] = [fleet.hub('a'), fleet.hub('b')];
  a.running?.process.kill('SIGSTOP');
  await fleet.target.stop();
  await fleet.leader('a');
  await fleet.smtp.mails(1);
  a.running?.process.kill('SIGCONT');
  await a.running?.logged(/does not lead any more|goes on alone/);
  await eventually(60_000, async () => {
    expect((await fleet.statuses()).map(({ role }) => role)).toEqual(['follower', 'leader']);
  });
  await fleet.target.start();
  await fleet.smtp.mails(2);
  await fleet.agreed();
  // Either may have the newest round a moment before the other.
  const [ofA, ofB] = [roundsOf(a), roundsOf(b)];
  const common = Math.min(ofA.length, ofB.length);
  expect(common).toBeGreaterThan(10);
  expect(gapsOf(ofA)).toEqual(new Set([1_000]));
  expect(ofA.slice(0, common)).toEqual(ofB.slice(0, common));
  expect(fleet.smtp.received).toHaveLength(2);
}

test.skipIf(obstacle !== null)(
  named(
    'a leader that is stopped or yields hands over at once, and no round is missing; one that is suspended is replaced, follows when it goes on, and the outage meanwhile is reported once',
  ),
  async () => {
    await using fleet = await startFleet();
    const [a, b] = [fleet.hub('a'), fleet.hub('b')];
    await a.start();
    await fleet.leader();
    await b.start();
    await eventually(30_000, () => expect(roundsOf(b).length).toBeGreaterThan(3));
    await handOver(fleet);
    await suspendLeader(fleet);
  },
  240_000,
);
