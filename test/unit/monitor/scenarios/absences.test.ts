import { afterEach, expect, test } from 'vitest';
import { isAboutUs } from '#monitor/judge/incident.ts';
import { createRemoteWorld, type RemoteWorld } from '../../../support/remote-world.ts';
import { target } from '../../../support/scenario.ts';

// Nobody judged for a while, and nodes went on: the hub was frozen, or could not hear them. All of it is judged as after a stop.

const minute = 60_000;
const everyMs = 5_000;
const names = ['de1', 'us1', 'jp1'];

const calm = (name: string) =>
  target(name, {
    schedule: { kind: 'every', everyMs },
    rules: target(name).rules.map((one) => ({ ...one, rule: { ...one.rule, confirm: false } })),
  });
const host = (name: string) => `${name}.example.com:443`;
const targets = ['shop', 'blog', 'cafe', 'mail'].map(calm);

let world: RemoteWorld | null = null;
afterEach(async () => {
  await world?.end();
  world = null;
});

async function running() {
  world = createRemoteWorld(targets, names);
  world.start();
  await world.clock.advance(5 * minute);
  return world;
}

type World = Awaited<ReturnType<typeof running>>;

interface Interruption {
  readonly begin: (world: World) => void;
  readonly end: (world: World) => Promise<void>;
  readonly why: string;
}

const frozen: Interruption = {
  begin: (one) => one.freeze(),
  end: async (one) => one.thaw(),
  why: 'the monitor was frozen when it happened',
};
const natsDown: Interruption = {
  begin(one) {
    names.forEach((name) => one.cut(name, true));
    one.clock.after(minute, () => one.natsIsAway(true));
  },
  async end(one) {
    one.natsIsAway(false);
    for (const name of names) {
      one.link(name);
      await one.clock.advance(3_000);
    }
  },
  why: 'the monitor could not hear its nodes when it happened',
};
const linksDown: Interruption = {
  begin: (one) => names.slice(1).forEach((name) => one.cut(name, false)),
  async end(one) {
    for (const name of names) one.link(name);
  },
  why: 'the monitor could not hear its nodes when it happened',
};
const interruptions = { frozen, natsDown, linksDown };

const outagesOf = ({ store }: World) => [...store.incidents.values()].filter((one) => !isAboutUs(one.target));

/** The mails about targets: subject and remarks. */
const mailsOf = ({ channel }: World) =>
  channel.attempts
    .map(({ message: { content } }) => ({ subject: content.subject, remarks: content.remarks }))
    .filter(({ subject }) => !subject.includes('Watchpost NATS'));

test.each(Object.entries(interruptions))(
  'an outage that begins and ends while the hub is interrupted (%s) is one late mail with its true times',
  async (_, interruption) => {
    for (const lengthMs of [75_000, 5 * minute]) {
      const one = await running();
      interruption.begin(one);
      const goneAt = one.clock.now();
      await one.clock.advance(20_000);
      one.downs.add(host('shop'));
      await one.clock.advance(40_000);
      one.downs.clear();
      await one.clock.advance(goneAt + lengthMs - one.clock.now());
      expect(mailsOf(one)).toEqual([]);
      await interruption.end(one);
      await one.clock.advance(minute);
      const [incident, ...others] = outagesOf(one);
      expect(others).toEqual([]);
      expect(incident).toMatchObject({ target: 'shop', lateReason: interruption.why });
      expect((incident?.startedAt ?? 0) - goneAt).toBeGreaterThanOrEqual(20_000);
      expect((incident?.startedAt ?? 0) - goneAt).toBeLessThanOrEqual(20_000 + everyMs);
      expect((incident?.endedAt ?? 0) - goneAt).toBeGreaterThanOrEqual(60_000);
      expect((incident?.endedAt ?? 0) - goneAt).toBeLessThanOrEqual(60_000 + everyMs);
      expect(mailsOf(one)).toHaveLength(1);
      expect(mailsOf(one)[0]?.remarks).toContain(`This notification is late, for ${interruption.why}.`);
      const [{ periods } = { periods: [] }] = one.store.periods(0, new Set(['shop']));
      expect(periods.map(({ status }) => status)).toEqual(['up', 'down', 'up']);
      await one.end();
      world = null;
    }
  },
);

test.each(Object.entries(interruptions))(
  'an outage that goes on when the interruption (%s) is over is dated back and told once, and so is its end',
  async (_, interruption) => {
    const one = await running();
    interruption.begin(one);
    const goneAt = one.clock.now();
    await one.clock.advance(2 * minute);
    one.downs.add(host('shop'));
    await one.clock.advance(3 * minute);
    await interruption.end(one);
    await one.clock.advance(minute);
    const [incident] = outagesOf(one);
    expect(incident).toMatchObject({ target: 'shop', endedAt: null, lateReason: interruption.why });
    expect((incident?.startedAt ?? 0) - goneAt - 2 * minute).toBeLessThanOrEqual(everyMs);
    one.downs.clear();
    await one.clock.advance(2 * minute);
    expect(mailsOf(one)).toHaveLength(2);
    expect(mailsOf(one)[1]?.subject).toMatch(/RESOLVED/);
  },
);

test.each(Object.entries(interruptions))(
  'an outage that was told before ends within the interruption (%s), and its end is told with its true time',
  async (_, interruption) => {
    const one = await running();
    one.downs.add(host('shop'));
    await one.clock.advance(minute);
    expect(mailsOf(one)).toHaveLength(1);
    interruption.begin(one);
    await one.clock.advance(minute);
    one.downs.clear();
    const endedAt = one.clock.now();
    await one.clock.advance(3 * minute);
    await interruption.end(one);
    await one.clock.advance(minute);
    const [incident] = outagesOf(one);
    expect((incident?.endedAt ?? 0) - endedAt).toBeLessThanOrEqual(everyMs);
    expect(mailsOf(one)).toHaveLength(2);
  },
);

test('live rounds wait for what is over by less than a minute, however long nodes go on sending', async () => {
  const one = await running();
  natsDown.begin(one);
  await one.clock.advance(5 * minute);
  for (const name of names) one.link(name);
  const backAt = one.clock.now();
  one.downs.add(host('shop'));
  // A node that is slow to send: something of the past each second.
  const [kept] = [...(one.nodes.get('us1')?.kept.values() ?? [])];
  for (let second = 0; second < 90; second += 1) {
    await one.clock.advance(1_000);
    if (kept !== undefined) one.nodes.get('us1')?.resend(() => [kept]);
  }
  const [incident] = outagesOf(one);
  expect(incident?.target).toBe('shop');
  expect((incident?.openedAt ?? 0) - backAt).toBeLessThan(2 * everyMs + 1_000);
  expect(mailsOf(one)).toHaveLength(1);
});

test('a hub that was given too little of a processor goes on with what nodes have sent, and asks them for nothing again', async () => {
  const one = await running();
  one.downs.add(host('shop'));
  const goneAt = one.clock.now();
  for (let times = 0; times < 3; times += 1) {
    await one.starve(9_000);
    await one.clock.advance(1_000);
  }
  await one.clock.advance(minute);
  expect(one.refreshes()).toBe(0);
  const [incident, ...others] = outagesOf(one);
  expect(others).toEqual([]);
  expect(incident).toMatchObject({ target: 'shop', lateReason: null });
  expect((incident?.startedAt ?? 0) - goneAt).toBeLessThanOrEqual(everyMs);
  expect((incident?.openedAt ?? 0) - goneAt).toBeLessThanOrEqual(30_000);
  const votes = one.store.records.flatMap(({ votes }) => votes);
  expect(votes.filter(({ outcome }) => outcome.status === 'unknown')).toEqual([]);
  // The same for one that stood still: its nodes are asked.
  one.freeze();
  await one.clock.advance(9_000);
  one.thaw();
  await one.clock.advance(1_000);
  expect(one.refreshes()).toBe(1);
});

test('a clock that is set forward is no absence: nothing is asked for again, and an outage is reported as ever', async () => {
  const one = await running();
  one.clock.step(300 * minute);
  one.downs.add(host('shop'));
  const goneAt = one.clock.now();
  await one.clock.advance(minute);
  expect(one.refreshes()).toBe(0);
  const [incident, ...others] = outagesOf(one);
  expect(others).toEqual([]);
  expect(incident).toMatchObject({ target: 'shop', lateReason: null });
  expect((incident?.openedAt ?? 0) - goneAt).toBeLessThanOrEqual(2 * everyMs + 1_000);
  const votes = one.store.records.flatMap(({ votes }) => votes);
  expect(votes.filter(({ outcome }) => outcome.status === 'unknown')).toEqual([]);
});

test('an outage after the clock was set back, while the hub gathers what nodes observed before its start, is not late', async () => {
  const one = await running();
  await one.kill();
  await one.back(undefined, targets, false, 0, 3_000);
  one.clock.step(-3_600_000);
  await one.clock.advance(5_000);
  await one.arrive();
  await one.clock.advance(minute);
  one.downs.add(host('shop'));
  const downAt = one.clock.now();
  await one.clock.advance(20_000);
  const incident = outagesOf(one).find(({ target: name }) => name === 'shop');
  expect(incident).toMatchObject({ endedAt: null, lateReason: null, held: null });
  expect((incident?.openedAt ?? 0) - downAt).toBeLessThanOrEqual(2 * everyMs);
});
