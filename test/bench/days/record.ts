import { readFileSync, writeFileSync } from 'node:fs';
import type { DayResult, SystemResult } from './result.ts';

/** A run of the bench, as it is saved. */
export interface RunRecord {
  readonly seed: number;
  /** When it was started, ISO. */
  readonly at: string;
  /** The systems that were run, with the versions of their packages. */
  readonly versions: Readonly<Record<string, string>>;
  readonly days: readonly DayResult[];
}

export function saveRun(path: string, run: RunRecord): void {
  writeFileSync(path, `${JSON.stringify(run, null, 1)}\n`);
}

export function readRun(path: string): RunRecord {
  const run = JSON.parse(readFileSync(path, 'utf8')) as Partial<RunRecord>;
  if (!Array.isArray(run.days) || run.versions === undefined)
    throw new Error(`${path}: no run of the days: save one with --save`);
  return run as RunRecord;
}

/**
 * What a system did on a day, as two runs are compared: whether all mails came that were due, whether any was false or repeated. How
 * many were false depends on when checks happened to be due, and how late they came on the machine.
 */
export function verdictOf({ verdict: { due, came, falseMails, repeated } }: SystemResult): string {
  const mails = due === came ? (due === 0 ? 'silent' : 'all') : `${came} of ${due}`;
  return [mails, falseMails > 0 ? 'false ones' : '', repeated > 0 ? 'again' : '']
    .filter((part) => part !== '')
    .join(', ');
}

/** What differs in the verdicts of two runs, a line for each system and day; systems and days of one run only included. */
export function differencesOf(one: RunRecord, other: RunRecord): readonly string[] {
  const [before, after] = [verdictsOf(one), verdictsOf(other)];
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((key) => {
    const [first = 'not run', second = 'not run'] = [before.get(key), after.get(key)];
    return first === second ? [] : [`${key}: ${first} | ${second}`];
  });
}

function verdictsOf({ days }: RunRecord): ReadonlyMap<string, string> {
  return new Map(
    days.flatMap(({ day, results }) => results.map((one) => [`${day}, ${one.system}`, verdictOf(one)] as const)),
  );
}
