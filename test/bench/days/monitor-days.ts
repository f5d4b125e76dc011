import type { Day, World } from './day.ts';

// What happens to the monitors themselves and to their machine.

const one = (world: World) => world.targets.slice(0, 1);

/**
 * From when on every mail about a beginning is sent. Prometheus takes longest: up to 10 s to a sample, 10 to an evaluation, 20 until
 * `for` is over, 5 of Alertmanager.
 */
const sentSeconds = 60;

const eachSystem = async (world: World, act: (system: World['systems'][number]) => unknown) => {
  await Promise.all(world.systems.map(async (system) => act(system)));
};

/** Local time changes by an hour half a minute after a target went down, and a minute before it is back. */
function localTimeDay(localTime: 'begins' | 'ends'): Day {
  return {
    name: `summer-time-${localTime}`,
    what: `summer time ${localTime}; a target goes down half a minute before, for 93 s`,
    targets: 4,
    localTime,
    async live(world) {
      await world.waitForChange(25 + world.random.next() * 10);
      await world.fail(one(world), 'refuse');
      await world.wait(93);
      await world.recover(one(world));
    },
  };
}

export const monitorDays: readonly Day[] = [
  {
    name: 'kill',
    what: 'kill -9 of the monitor 5 s after a target went down, started 15 s later; down for 93 s',
    targets: 4,
    async live(world) {
      await world.fail(one(world), 'refuse');
      await world.wait(5);
      await eachSystem(world, async (system) => system.signal('SIGKILL'));
      await world.wait(15);
      await eachSystem(world, (system) => system.start());
      await world.wait(73);
      await world.recover(one(world));
    },
  },
  {
    name: 'kill-later',
    what: 'the same 60 s after a target went down, when its mail is sent; down for 133 s',
    targets: 4,
    async live(world) {
      await world.fail(one(world), 'refuse');
      await world.wait(sentSeconds);
      await eachSystem(world, async (system) => system.signal('SIGKILL'));
      await world.wait(10);
      await eachSystem(world, (system) => system.start());
      await world.wait(63);
      await world.recover(one(world));
    },
  },
  {
    name: 'restart',
    what: 'the monitor is restarted 60 s after a target went down, and that ends before it is back',
    targets: 4,
    async live(world) {
      await world.fail(one(world), 'refuse');
      await world.wait(sentSeconds);
      await eachSystem(world, async (system) => system.stop());
      await world.recover(one(world));
      await world.wait(5);
      await eachSystem(world, (system) => system.start());
      await world.wait(30);
    },
  },
  {
    name: 'freeze',
    what: 'the monitor is stopped (SIGSTOP) for 60 s; a target goes down meanwhile, for 123 s',
    targets: 4,
    async live(world) {
      await eachSystem(world, async (system) => system.signal('SIGSTOP'));
      await world.wait(20);
      await world.fail(one(world), 'refuse');
      await world.wait(40);
      await eachSystem(world, async (system) => system.signal('SIGCONT'));
      await world.wait(83);
      await world.recover(one(world));
    },
  },
  {
    name: 'disk',
    what: "the monitor's disk is full for 90 s; a target goes down meanwhile, for 63 s, and another afterwards, for 63 s",
    targets: 4,
    hasSmallDisks: true,
    async live(world) {
      await eachSystem(world, (system) => system.fillDisk());
      await world.wait(10);
      await world.fail(one(world), 'refuse');
      await world.wait(63);
      await world.recover(one(world));
      await world.wait(17);
      await eachSystem(world, (system) => system.freeDisk());
      await world.wait(10);
      const second = world.targets.slice(1, 2);
      await world.fail(second, 'refuse');
      await world.wait(63);
      await world.recover(second);
    },
  },
];

export const machineDays: readonly Day[] = [
  {
    name: 'reload',
    what: 'a reload of a configuration with a mistake; 10 s later a target goes down for 63 s',
    targets: 4,
    async live(world) {
      await eachSystem(world, async (system) => {
        system.breakConfiguration();
        await system.reload();
      });
      await world.wait(10);
      await world.fail(one(world), 'refuse');
      await world.wait(63);
      await world.recover(one(world));
    },
  },
  {
    name: 'clock',
    what: "the monitor's clock is set an hour ahead, and back 60 s later, while a target is down for 93 s",
    targets: 4,
    isClock: true,
    async live(world) {
      await world.fail(one(world), 'refuse');
      await eachSystem(world, (system) => system.setUp.setClock?.(3_600_000));
      await world.wait(60);
      await eachSystem(world, (system) => system.setUp.setClock?.(0));
      await world.wait(33);
      await world.recover(one(world));
    },
  },
  localTimeDay('begins'),
  localTimeDay('ends'),
];
