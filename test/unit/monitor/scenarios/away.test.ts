import { afterEach, expect, test } from 'vitest';
import { createRemoteWorld, type RemoteWorld } from '../../../support/remote-world.ts';
import type { MemoryStore } from '../../../support/memory-store.ts';
import type { Observation } from '#protocol/watching.ts';
import { target } from '../../../support/scenario.ts';

// A hub that is away while its nodes go on.

const minute = 60_000;

/** The due times of a target's rounds, and how far they are apart. */
function roundsOf(store: MemoryStore, name: string) {
  const dues = store.records
    .filter(({ target: of, votes }) => of === name && votes.length > 0)
    .map(({ dueAt }) => dueAt);
  return { dues, gaps: [...new Set(dues.slice(1).map((due, index) => due - dues[index]!))] };
}

let scene: RemoteWorld | null = null;
afterEach(async () => {
  await scene?.end();
  scene = null;
});

const host = (name: string) => `${name}.example.com:443`;
const calm = (name: string) =>
  target(name, { rules: target(name).rules.map((one) => ({ ...one, rule: { ...one.rule, confirm: false } })) });
const targets = ['shop', 'blog', 'cafe', 'mail'].map(calm);

async function awayForTenMinutes(meanwhile: (scene: RemoteWorld) => Promise<void>) {
  scene = createRemoteWorld(targets);
  scene.start();
  await scene.clock.advance(5 * minute);
  await scene.kill();
  const goneAt = scene.clock.now();
  await meanwhile(scene);
  await scene.clock.advance(goneAt + 10 * minute - scene.clock.now());
  return { ...scene, goneAt, whole: scene };
}

test('an outage that began and ended while the hub was away is one late mail with its true times, and history has no hole', async () => {
  const { whole, goneAt, store, channel } = await awayForTenMinutes(async ({ clock, downs }) => {
    await clock.advance(2 * minute);
    downs.add(host('shop'));
    await clock.advance(5 * minute);
    downs.delete(host('shop'));
  });
  expect(channel.attempts).toEqual([]);
  await whole.back();
  for (const { name } of targets) expect(roundsOf(store, name).gaps).toEqual([minute]);
  expect(store.records.flatMap(({ votes }) => votes).filter(({ outcome }) => outcome.status === 'unknown')).toEqual([]);
  const [incident] = store.incidents.values();
  expect(store.incidents.size).toBe(1);
  expect(incident?.startedAt).toBeGreaterThan(goneAt + 2 * minute);
  expect(incident?.startedAt).toBeLessThanOrEqual(goneAt + 3 * minute);
  expect(incident?.endedAt).toBeGreaterThan(goneAt + 7 * minute);
  expect(incident?.lateReason).toBe('the monitor was away when it happened');
  expect(channel.subjects).toHaveLength(1);
  expect(channel.subjects[0]).toMatch(/shop/);
  expect(channel.attempts[0]?.message.content.remarks).toContain(
    'This notification is late, for the monitor was away when it happened.',
  );
  await whole.clock.advance(10 * minute);
  expect(channel.subjects).toHaveLength(1);
  expect(roundsOf(store, 'shop').gaps).toEqual([minute]);
});

test('a hub that takes long to start judges what happened before it all the same', async () => {
  const { whole, store, channel, late } = await awayForTenMinutes(async ({ clock, downs }) => {
    await clock.advance(2 * minute);
    downs.add(host('shop'));
    await clock.advance(5 * minute);
    downs.delete(host('shop'));
  });
  await whole.back(undefined, targets, true, 30_000);
  expect(channel.subjects).toHaveLength(1);
  expect(late).toEqual([]);
  await whole.clock.advance(10 * minute);
  for (const { name } of targets) expect(roundsOf(store, name).gaps).toEqual([minute]);
  expect(store.records.flatMap(({ votes }) => votes).filter(({ outcome }) => outcome.status === 'unknown')).toEqual([]);
});

test('where nodes have more than they can send in time, what has come is judged', async () => {
  const { whole, channel } = await awayForTenMinutes(async ({ clock, downs }) => {
    await clock.advance(2 * minute);
    downs.add(host('shop'));
    await clock.advance(5 * minute);
    downs.delete(host('shop'));
  });
  await whole.back(undefined, targets, false);
  expect(channel.subjects).toEqual([]);
  await whole.clock.advance(minute);
  expect(channel.subjects).toHaveLength(1);
  expect(channel.subjects[0]).toMatch(/shop/);
});

test('what comes too late to be judged is in the history, and one mail says of which time; none is told of what was judged', async () => {
  const { whole, goneAt, channel, late, store, lines } = await awayForTenMinutes(async ({ clock, downs, nodes }) => {
    for (const node of nodes.values()) node.isLinked = false;
    await clock.advance(2 * minute);
    downs.add(host('shop'));
    await clock.advance(5 * minute);
    downs.delete(host('shop'));
  });
  await whole.back(undefined, targets, false);
  await whole.clock.advance(2 * minute);
  expect(channel.subjects).toEqual([]);
  for (const node of whole.nodes.values()) node.isLinked = true;
  await whole.arrive();
  expect(channel.subjects).toEqual([
    '[RESOLVED] Watchpost: could not judge part of what nodes saw 2026-01-01 00:05 to 00:15 UTC',
  ]);
  const { headline, remarks, facts } = channel.attempts[0]?.message.content ?? {};
  expect({ headline, remarks, facts }).toMatchInlineSnapshot(`
    {
      "facts": [
        [
          "What",
          "Watchpost",
        ],
        [
          "Not judged",
          "2026-01-01 00:05:00 UTC to 2026-01-01 00:15:00 UTC (10m)",
        ],
        [
          "Cause",
          "what was seen of 4 targets came too late to be judged",
        ],
        [
          "Rule",
          "unjudged: what nodes saw while the monitor was away could not be judged within a minute of the start; it is in the history, and what began and ended then is not notified",
        ],
        [
          "Severity",
          "warning",
        ],
      ],
      "headline": "Watchpost could not judge part of what nodes saw 2026-01-01 00:05 to 00:15 UTC and is judging again",
      "remarks": [
        "This notification is late, for the monitor was away when it happened.",
        "It was over before this mail was sent.",
      ],
    }
  `);
  const [incident] = store.incidents.values();
  expect(incident?.startedAt).toBeGreaterThanOrEqual(goneAt);
  expect(incident?.startedAt).toBeLessThanOrEqual(goneAt + minute);
  expect(incident?.endedAt).toBeLessThanOrEqual(goneAt + 10 * minute);
  expect(incident?.cause).toBe('what was seen of 4 targets came too late to be judged');
  expect(late.filter(({ dueAt }) => dueAt > goneAt && dueAt <= goneAt + 10 * minute)).toHaveLength(120);
  expect(lines.filter(({ msg }) => msg === 'stored results too late to judge')).toHaveLength(1);
  await whole.clock.advance(20 * minute);
  expect(channel.subjects).toHaveLength(1);
});

test('of rounds that were judged by some of their nodes nothing is said when the others come late', async () => {
  const { whole, channel, late } = await awayForTenMinutes(async ({ nodes }) => {
    const cut = nodes.get('jp1');
    if (cut !== undefined) cut.isLinked = false;
  });
  await whole.back(undefined, targets, false);
  await whole.clock.advance(2 * minute);
  const back = whole.nodes.get('jp1');
  if (back !== undefined) back.isLinked = true;
  await whole.arrive();
  expect(late.length).toBeGreaterThan(30);
  await whole.clock.advance(20 * minute);
  expect(channel.subjects).toEqual([]);
});

test('what nodes saw of a target before it was changed is in its history', async () => {
  const { whole, goneAt, late, store } = await awayForTenMinutes(async () => {});
  const changed = target('shop', { schedule: { kind: 'every', everyMs: 30_000 } });
  await whole.back(undefined, [changed, ...targets.slice(1)]);
  const ofShop = late.filter(({ target: name }) => name === 'shop');
  expect(ofShop).toHaveLength(30);
  expect(ofShop.every(({ dueAt, status }) => dueAt > goneAt && status === 'up')).toBe(true);
  expect([...whole.nodes.values()].every(({ kept }) => kept.size === 0)).toBe(true);
  expect(store.incidents.size).toBe(0);
});

test('an outage that is still open is told at once, dated back, and says why it is late; its end is told as ever', async () => {
  const { whole, goneAt, store, channel } = await awayForTenMinutes(async ({ clock, downs }) => {
    await clock.advance(2 * minute);
    downs.add(host('shop'));
  });
  await whole.back();
  expect(channel.subjects).toHaveLength(1);
  const [incident] = store.incidents.values();
  expect(incident?.startedAt).toBeLessThanOrEqual(goneAt + 3 * minute);
  expect(incident?.lateReason).toBe('the monitor was away when it happened');
  whole.downs.clear();
  await whole.clock.advance(5 * minute);
  expect(channel.subjects).toHaveLength(2);
  expect(channel.subjects[1]).toMatch(/RESOLVED/);
});

test('a node that restarts without a hub goes on, and its votes are in the rounds', async () => {
  const { whole, store } = await awayForTenMinutes(async ({ clock, nodes }) => {
    await clock.advance(4 * minute + 30_000);
    nodes.get('us1')?.restart();
  });
  await whole.back();
  const unknowns = store.records.flatMap(({ votes }) => votes).filter(({ outcome }) => outcome.status === 'unknown');
  expect(unknowns).toEqual([]);
  expect(roundsOf(store, 'shop').gaps).toEqual([minute]);
});

test('batches that come twice, in any order, make the same rounds and no second mail', async () => {
  const stories = [];
  const orders: ((all: (readonly Observation[])[]) => (readonly Observation[])[])[] = [
    (all) => all,
    (all) => all.toReversed(),
    (all) => [...all, ...all],
    (all) => all.toSorted((a, b) => (a[0]?.target ?? '').localeCompare(b[0]?.target ?? '')),
  ];
  for (const order of orders) {
    const { whole, store, channel } = await awayForTenMinutes(async ({ clock, downs }) => {
      await clock.advance(2 * minute);
      downs.add(host('shop'));
      await clock.advance(3 * minute);
      downs.clear();
    });
    await whole.back(order);
    stories.push({
      mails: channel.subjects,
      rounds: store.records.map(({ target: name, dueAt, votes }) => [
        name,
        dueAt,
        votes.map(({ node, outcome }) => `${node.name} ${outcome.status}`),
      ]),
      incidents: [...store.incidents.values()].map(({ startedAt, endedAt }) => [startedAt, endedAt]),
    });
    await whole.end();
  }
  scene = null;
  expect(stories[0]?.mails).toHaveLength(1);
  for (const story of stories) expect(story).toEqual(stories[0]);
});

test('of two nodes one is late by ten minutes: rounds are judged without it, and its votes are kept as late', async () => {
  const { whole, store, channel, late } = await awayForTenMinutes(async ({ nodes }) => {
    nodes.get('jp1')!.isLinked = false;
  });
  await whole.back();
  await whole.clock.advance(10 * minute);
  const away = whole.nodes.get('jp1')!;
  const before = store.records.length;
  away.isLinked = true;
  away.resend((all) => all);
  await whole.clock.advance(2_000);
  expect(late.length).toBeGreaterThan(60);
  expect(late.every(({ node, status }) => node === 'jp1' && status === 'up')).toBe(true);
  expect(away.kept.size).toBeLessThan(20);
  expect(store.records.length - before).toBeLessThan(5);
  expect(channel.subjects).toEqual([]);
});

test('what was seen of a target that was removed or changed while the hub was away is no vote, and the node may forget it', async () => {
  const { whole, store, nodes } = await awayForTenMinutes(async () => {});
  const before = store.records.length;
  const changed = calm('blog');
  const plan = [targets[0]!, { ...changed, spec: { ...changed.spec, host: host('other') } }];
  const backAt = whole.clock.now();
  await whole.back(undefined, plan);
  await whole.clock.advance(3 * minute);
  const after = store.records.slice(before).filter(({ votes }) => votes.length > 0);
  expect(new Set(after.map(({ target: name }) => name))).toEqual(new Set(['shop', 'blog']));
  expect(roundsOf(store, 'shop').gaps).toEqual([minute]);
  const ofBlog = after.filter(({ target: name, dueAt }) => name === 'blog' && dueAt > backAt);
  expect(ofBlog.length).toBeLessThanOrEqual(4);
  for (const { kept } of nodes.values()) expect(kept.size).toBeLessThanOrEqual(2);
});

test('live news waits for what is over by no more than a minute', async () => {
  scene = createRemoteWorld(targets);
  scene.start();
  await scene.clock.advance(5 * minute);
  await scene.kill();
  await scene.clock.advance(minute);
  await scene.back(undefined, targets, false);
  const before = scene.store.records.length;
  scene.downs.add(host('shop'));
  await scene.clock.advance(15_000);
  expect(scene.store.records).toHaveLength(before);
  await scene.clock.advance(4 * minute);
  expect(scene.channel.subjects).toHaveLength(1);
  // Others are looked at besides, to tell an outage from a lost uplink.
  expect(Math.max(...roundsOf(scene.store, 'shop').gaps)).toBe(minute);
});

test('what a node dropped because its spool was full while the hub was away is in the late mail, once', async () => {
  const { whole, channel } = await awayForTenMinutes(async ({ clock, nodes }) => {
    await clock.advance(5 * minute);
    const us1 = nodes.get('us1');
    if (us1 === undefined) throw new Error('no node');
    us1.kept.clear();
    us1.dropped = { count: 1_200, at: clock.now() };
  });
  await whole.back();
  await whole.clock.advance(2 * minute);
  const causes = channel.attempts.map(({ message }) => message.content.facts.find(([name]) => name === 'Cause')?.[1]);
  expect(causes).toEqual(['us1 dropped 1200 results']);
  await whole.kill();
  await whole.clock.advance(5 * minute);
  await whole.back();
  await whole.clock.advance(20 * minute);
  expect(channel.subjects).toHaveLength(1);
});
