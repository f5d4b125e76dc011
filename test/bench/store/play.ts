import { setImmediate as nextTurn } from 'node:timers/promises';
import { startUpkeep } from '#compose/history.ts';
import { stableFraction } from '#kernel/hash.ts';
import { dayMs, hourMs } from '#kernel/units.ts';
import { closing, down, openAt, opening, quiet, round, up, vote } from '../../support/store.ts';
import { FastClock } from './fast-clock.ts';
import { Holds } from './holds.ts';
import { bytesWritten, stopwatch } from './meter.ts';
import { end, liveFrom, names, nodes, retention, size, takes } from './size.ts';

const phases = names
  .map((name) => ({ name, phase: Math.floor(stableFraction(name) * size.everyMs) }))
  .toSorted((a, b) => a.phase - b.phase);

/** Rounds as they come, with sealing beside them as the daemon has it, and how long each piece held the main loop. */
export async function playDays(path: string): Promise<void> {
  using holds = new Holds();
  const clock = new FastClock(liveFrom, (action, what) => holds.measure(action, what));
  const store = openAt(path, clock, { retention });
  const upkeep = startUpkeep(store, { clock: clock.of('upkeep'), log: quiet, onDone: () => {}, onJudged: () => {} });
  const written = bytesWritten();
  const made = stopwatch();
  let last: Promise<unknown> = Promise.resolve();
  for (let tick = liveFrom; tick < end; tick += size.everyMs) {
    for (const { name, phase } of phases) {
      clock.advanceTo(tick + phase);
      const isDown = tick % dayMs < 300_000 && stableFraction(`${name}${tick}`) < 0.5;
      const votes = nodes.map((node) => vote(node, isDown ? down() : up(takes() / 1e6)));
      const verdict = { status: isDown ? 'down' : 'up', inMaintenance: false, holdsMs: 2 * size.everyMs } as const;
      last = store.record(round(name, tick + phase, { votes, verdict }));
    }
    const [first = ''] = names;
    if (tick % dayMs === 0)
      last = Promise.all([last, store.record(opening(first, tick)), store.record(closing(first, tick, tick + 1))]);
    if (tick % (hourMs / 4) === 0) await nextTurn();
  }
  // The last hour of the day is sealed, and what is old forgotten.
  for (let left = 40_000; left > 0; left -= 1) clock.advanceTo(clock.now() + 20);
  await last;
  upkeep[Symbol.dispose]();
  await store.close();
  const results = (size.liveDays * dayMs * size.targets * size.nodes) / size.everyMs;
  const seconds = Number(made()) / 1_000;
  console.log(`results stored         ${results.toLocaleString('en')} in ${seconds.toFixed(0)} s, and sealed`);
  console.log(`written                ${(written() / results).toFixed(0)} bytes a result, log and sealing included`);
  console.log(
    `CPU                    ${perResult('rounds', holds, results)} µs a result to store it, ${perResult('upkeep', holds, results)} to seal and forget`,
  );
  holds.print();
}

const perResult = (what: string, holds: Holds, results: number) => ((holds.cpuMsOf(what) * 1_000) / results).toFixed(2);
