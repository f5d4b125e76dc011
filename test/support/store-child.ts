import { readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '#kernel/clock.ts';
import { messageOf, WatchpostError } from '#kernel/errors.ts';
import type { RoundRecord } from '#monitor/judge/round-record.ts';
import { FakeClock } from './fake-clock.ts';
import { down, healthy, openAt, opening, round, start, state, vote } from './store.ts';

// A process of its own for tests that kill it or give it a disk of its own: `node store-child.ts <scene> <folder>`.
const votes = ['de1', 'us1', 'jp1'].map((name) => vote(name));

/** Records rounds for ever and prints the due time of each as soon as it is stored. */
async function work(folder: string): Promise<void> {
  const store = openAt(join(folder, 'watchpost.db'), systemClock);
  for (let index = 0; ; index += 1) {
    const dueAt = start + index;
    const record = index % 5 === 0 ? { ...opening('shop', dueAt), votes } : round('shop', dueAt, { votes });
    void store.record(record).then(() => process.stdout.write(`${dueAt}\n`));
    if (index % 7 === 0) {
      const due = store.dueDeliveries(dueAt, 3);
      store.storeOutcomes(
        due.map(({ delivery }) => ({ id: delivery.id, state: 'sent', at: dueAt, message: 'm', remindAt: null })),
      );
    }
    if (index === 20) process.stdout.write('working\n');
    await sleep(1);
  }
}

/**
 * Records as many rounds as the scene says, ten a second of a clock of its own, and prints what each was. Then it waits to be killed.
 */
async function hold(folder: string): Promise<void> {
  const { rounds } = JSON.parse(readFileSync(join(folder, 'scene.json'), 'utf8')) as { readonly rounds: number };
  const clock = new FakeClock();
  const store = openAt(join(folder, 'watchpost.db'), clock);
  for (let index = 0; index < rounds; index += 1) {
    const [kind, record] = roundOf(index);
    void store.record(record);
    process.stdout.write(`${record.dueAt} ${kind}\n`);
    await clock.advance(100);
  }
  process.stdout.write('done\n');
  await sleep(600_000);
}

function roundOf(index: number): readonly [string, RoundRecord] {
  const dueAt = start + index * 100;
  if (index % 50 === 0) return ['eventful', opening('shop', dueAt)];
  if (index % 50 === 30) return ['eventful', healthy('shop', dueAt, { states: [state('shop')] })];
  if (index % 50 === 19) return ['partial', healthy('shop', dueAt, { votes: [vote('de1', down()), vote('us1')] })];
  return ['healthy', healthy('shop', dueAt)];
}

/** Opens the database and prints how that ended. */
async function open(folder: string): Promise<void> {
  try {
    await openAt(join(folder, 'watchpost.db'), systemClock).close();
    report({ opened: true });
  } catch (error) {
    report({ code: error instanceof WatchpostError ? error.code : null, message: messageOf(error) });
  }
}

/** Fills its disk, records an incident on it, makes room once it was tried again, and prints what became of it. */
async function fillDisk(folder: string): Promise<void> {
  const clock = new FakeClock();
  await using store = openAt(join(folder, 'watchpost.db'), clock);
  const { bavail, bsize } = statfsSync(folder);
  writeFileSync(join(folder, 'filler'), Buffer.alloc((bavail - 1) * bsize));
  const incident = store.record(
    opening(
      'shop',
      start,
      Array.from({ length: 50 }, (_, index) => `${index}@example.com`),
    ),
  );
  const full = store.health();
  await clock.advance(1_000);
  const stillFull = store.health();
  rmSync(join(folder, 'filler'));
  await clock.advance(10_000);
  const recorded = await incident;
  report({ full, stillFull, recorded, after: store.health(), due: store.dueDeliveries(start, 100).length });
}

/** Seals, converts and forgets all there is, a piece after the other, and says when it begins and when it is through. */
async function seal(folder: string): Promise<void> {
  const { end } = JSON.parse(readFileSync(join(folder, 'scene.json'), 'utf8')) as { readonly end: number };
  const clock = { ...systemClock, now: () => end };
  await using store = openAt(join(folder, 'watchpost.db'), clock);
  process.stdout.write('working\n');
  while (store.upkeep()) await sleep(0);
  process.stdout.write('through\n');
}

function report(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

const scenes: Record<string, (folder: string) => Promise<void>> = { work, hold, open, fillDisk, seal };
const [, , scene = '', folder = ''] = process.argv;
await scenes[scene]?.(folder);
