import { expect, test } from 'vitest';
import { startMonitor } from '#monitor/monitor.ts';
import type { MonitorStore } from '#monitor/store.ts';
import type { Runner } from '#monitor/watch/runner.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { memoryLog } from '../../support/memory-log.ts';

test('a monitor without targets goes on until it is stopped', async () => {
  const clock = new FakeClock();
  const store: Pick<MonitorStore, 'load' | 'checkedSpecs' | 'silences' | 'flush'> = {
    load: () => [],
    checkedSpecs: () => new Map(),
    silences: () => [],
    flush: () => {},
  };
  const monitor = startMonitor(
    { targets: [], maintenance: [] },
    {
      runner: {} as Runner,
      store: store as MonitorStore,
      clock,
      log: memoryLog().log,
      events: {
        roundAwaited: () => {},
        roundSkipped: () => {},
        roundDone: () => {},
        recorded: () => {},
        unwatched: () => {},
      },
      wakeOutbox: () => {},
      onUnstored: () => {},
    },
  );
  let over = false;
  void monitor.ended.then(() => {
    over = true;
  });
  await clock.advance(60_000);
  expect(over).toBe(false);
  await monitor.stop(1_000);
  expect(over).toBe(true);
  expect(clock.pending).toBe(0);
});
