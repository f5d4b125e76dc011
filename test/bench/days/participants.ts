import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '#kernel/errors.ts';
import type { Day } from './day.ts';
import { atHome, gateway, mailHost } from './network.ts';
import { createPrograms, type Programs } from './programs.ts';
import { recipientsOf, slugOf, type System, type TargetPlan, type LocalTime, usualTimes } from './systems/system.ts';
import type { Target } from './target.ts';

/** A system during a day. */
export interface Participant {
  readonly system: System;
  readonly programs: Programs;
  readonly folder: string;
  /** The path that it asks targets for. */
  readonly path: string;
}

export interface Surroundings {
  readonly targets: readonly TargetPlan[];
  readonly folder: string;
  /** PEM file of the authority of targets with TLS. */
  readonly authority: string;
  readonly zone?: LocalTime;
}

export function participantOf(
  system: System,
  day: Day,
  { targets, folder: parent, authority, zone }: Surroundings,
): Participant {
  const folder = join(parent, slugOf(system.name));
  mkdirSync(folder, { recursive: true });
  if (day.hasSmallDisks === true) execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=192m', 'tmpfs', folder]);
  const recipients = recipientsOf(system.name, day.hasSecond === true ? 2 : 1);
  const path = `/${slugOf(system.name)}`;
  const times = day.times ?? usualTimes;
  const setUp = system.setUp({
    folder,
    targets,
    mailHost,
    recipients,
    authority,
    gateway,
    times,
    path,
    needsClock: day.isClock === true,
    ...(zone !== undefined && { zone }),
  });
  const environment: Readonly<Record<string, string>> = zone === undefined ? {} : { TZ: `:${zone.file}` };
  const programs = createPrograms(folder, setUp, { environment });
  return { system, programs, folder, path };
}

const startMs = 30_000;

/**
 * Waits until every system has checked every target, and starts those that have not once more: a start that fails says nothing about
 * the day. Returns those that work.
 */
export async function waitUntilChecking(
  participants: readonly Participant[],
  targets: readonly Target[],
): Promise<readonly Participant[]> {
  const isChecking = ({ path }: Participant) => targets.every(({ asked }) => asked.has(path));
  const wait = async () => {
    for (let waited = 0; waited < startMs && !participants.every(isChecking); waited += 500) await sleep(500);
  };
  await wait();
  const idle = participants.filter((one) => !isChecking(one));
  for (const { system, programs } of idle) {
    console.error(`${system.name} does not check every target: started again`);
    await programs.stop();
    programs.start();
  }
  if (idle.length > 0) await wait();
  const working = participants.filter(isChecking);
  for (const { system, programs } of participants.filter((one) => !working.includes(one))) {
    console.error(`${system.name} does not check every target: left out`);
    await programs.signal('SIGKILL');
  }
  return working;
}

/** Seconds of downtime that a system's history shows beyond the truth, of each target that was down or is said to have been. */
export type HistoryErrors = readonly number[] | { readonly fault: string } | null;

/** Compares what a running system shows as downtime with what its targets did in this time. */
export function historyErrorsOf(
  { system, programs, folder }: Participant,
  plans: readonly TargetPlan[],
  targets: ReadonlyMap<string, Target>,
  [from, to]: readonly [number, number],
): HistoryErrors {
  if (system.downtimes === null) return null;
  const aheadMs = programs.setUp.aheadMs ?? 0;
  const run = (words: readonly string[]) => {
    const [program, ...args] = atHome(words);
    return execFileSync(program, args, { encoding: 'utf8', timeout: startMs, stdio: ['ignore', 'pipe', 'pipe'] });
  };
  try {
    const downtimes = system.downtimes({ folder, targets: plans, from: from + aheadMs, to: to + aheadMs, run });
    return plans.flatMap(({ name }) => {
      const trueMs = targets.get(name)?.downMs(from, to) ?? 0;
      const shownMs = (downtimes.get(name) ?? Number.NaN) * 1_000;
      if (Number.isNaN(shownMs)) throw new Error(`no downtime of ${name}`);
      return trueMs > 0 || shownMs > 0.5 ? [Math.round((shownMs - trueMs) / 100) / 10] : [];
    });
  } catch (error) {
    return { fault: messageOf(error).slice(0, 300) };
  }
}
