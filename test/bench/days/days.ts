import type { Day, World } from './day.ts';
import type { MailMood } from './mail-server.ts';
import { machineDays, monitorDays } from './monitor-days.ts';
import type { Behaviour } from './target.ts';

const one = (world: World) => world.targets.slice(0, 1);

/**
 * One target fails for a minute in this way. No outage is as long as some intervals, except by chance: histories of samples would be
 * right about it more often than they are.
 */
function outage(name: string, what: string, behaviour: Behaviour): Day {
  return {
    name,
    what,
    targets: 4,
    async live(world) {
      await world.fail(one(world), behaviour);
      await world.wait(63);
      await world.recover(one(world));
    },
  };
}

/** The mail server is in this mood from before an outage begins until a minute after, and the outage ends a minute later. */
function badMail(name: string, what: string, mood: MailMood, more: Partial<Day> = {}): Day {
  return {
    name,
    what,
    targets: 4,
    settle: 130,
    async live(world) {
      await world.mail.turn(mood);
      await world.wait(5);
      await world.fail(one(world), 'refuse');
      await world.wait(60);
      await world.mail.turn('there');
      await world.wait(78);
      await world.recover(one(world));
    },
    ...more,
  };
}

export const days: readonly Day[] = [
  outage('outage', 'a target refuses connections for 63 s', 'refuse'),
  {
    name: 'blip',
    what: 'a target refuses connections for 3 s, three times',
    targets: 4,
    async live(world) {
      for (let times = 0; times < 3; times += 1) {
        await world.turn(one(world), 'refuse');
        await world.wait(3);
        await world.turn(one(world), 'up');
        await world.wait(15 + world.random.next() * 10);
      }
    },
  },
  {
    name: 'flapping',
    what: 'a target fails for 6 to 12 s, five times, then for 63 s',
    targets: 4,
    async live(world) {
      for (let times = 0; times < 5; times += 1) {
        await world.fail(one(world), 'refuse', 'allowed');
        await world.wait(6 + world.random.next() * 6);
        await world.recover(one(world));
        await world.wait(10 + world.random.next() * 5);
      }
      await world.fail(one(world), 'refuse');
      await world.wait(63);
      await world.recover(one(world));
    },
  },
  {
    name: 'storm',
    what: '30 targets refuse connections for 77 s; 20 s later an unrelated one, for 77 s',
    targets: 34,
    async live(world) {
      const [many, other] = [world.targets.slice(0, 30), world.targets.slice(30, 31)];
      await world.fail(many, 'refuse');
      await world.wait(20);
      await world.fail(other, 'silent');
      await world.wait(57);
      await world.recover(many);
      await world.wait(20);
      await world.recover(other);
    },
  },
  outage('silent', 'a target accepts connections and is silent for 63 s', 'silent'),
  outage('error', 'a target answers 503 for 63 s', 'error'),
  outage('reset', 'a target resets connections for 63 s', 'reset'),
  {
    name: 'uplink',
    what: 'the monitors lose their link for 45 s, routes return in steps for 20 s; one target of 12 is down by then, for 78 s',
    varies: 'which healthy targets are checked before their routes are back',
    targets: 12,
    settle: 100,
    async live(world) {
      const [sick, ...healthy] = world.targets;
      if (sick === undefined) throw new Error('there is no target');
      world.setLink('down');
      world.setReachable(world.targets, false);
      await world.wait(45);
      await world.turn([sick], 'refuse');
      world.setLink('up');
      world.setReachable([sick], true);
      world.record([sick]);
      for (let index = 0; index < healthy.length; index += 3) {
        await world.wait(5);
        world.setReachable(healthy.slice(index, index + 3), true);
      }
      await world.wait(58);
      await world.recover([sick]);
    },
  },
  {
    name: 'resolver',
    what: 'the name server is silent for 60 s; 45 s later a target refuses connections for 63 s',
    varies: 'which names are looked up while the name server is silent',
    targets: 4,
    areNamed: true,
    async live(world) {
      world.names.turn(false);
      await world.wait(60);
      world.names.turn(true);
      await world.wait(45);
      await world.fail(one(world), 'refuse');
      await world.wait(63);
      await world.recover(one(world));
    },
  },
  badMail('mail-away', 'the mail server is away for 65 s, while a target goes down', 'away'),
  badMail('mail-slow', 'the mail server takes 20 s for each mail, while a target goes down', 'slow'),
  badMail('mail-drops', 'the mail server closes the connection after each mail for 65 s, without it', 'drops'),
  badMail('mail-refuses', 'the mail server refuses the second of two recipients; only the first counts', 'picky', {
    hasSecond: true,
  }),
  ...monitorDays,
  {
    name: 'certificate',
    what: 'a certificate that ends in 2 days for 90 s (limit 14 days)',
    targets: 4,
    hasTls: true,
    async live(world) {
      await world.fail(one(world), 'expiring');
      await world.wait(90);
      await world.recover(one(world));
    },
  },
  {
    name: 'latency',
    what: 'answers of a target take 2 s instead of 1 s for 100 s (limit 1.5 s)',
    targets: 4,
    usual: 'steady',
    without: ['Monit'],
    settle: 100,
    async live(world) {
      await world.fail(one(world), 'slow');
      await world.wait(100);
      await world.recover(one(world), 'steady');
    },
  },
  ...machineDays,
  badMail('mail-hour', 'the mail server is away for an hour, while a target goes down', 'away', {
    isExtra: true,
    settle: 900,
    async live(world) {
      await world.mail.turn('away');
      await world.fail(one(world), 'refuse');
      await world.wait(3_600);
      await world.mail.turn('there');
      await world.wait(900);
      await world.recover(one(world));
    },
  }),
  {
    name: 'short',
    what: 'a target refuses connections for 21 s, with a check every 2 s',
    targets: 2,
    isExtra: true,
    times: { every: 2, retry: 1, timeout: 2, groupWait: 1, groupInterval: 3 },
    warmUp: 8,
    settle: 15,
    async live(world) {
      await world.fail(one(world), 'refuse');
      await world.wait(21);
      await world.recover(one(world));
    },
  },
];
