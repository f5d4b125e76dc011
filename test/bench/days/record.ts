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

/** Several lives of one day as one: of each system that in which it did worst. */
export function worstOf(lives: readonly DayResult[]): DayResult {
  const [first] = lives;
  if (first === undefined) throw new Error('no life of the day');
  const results = [
    ...Map.groupBy(
      lives.flatMap((life) => life.results),
      ({ system }) => system,
    ).values(),
  ];
  return {
    ...first,
    results: results.flatMap((ofSystem) => ofSystem.toSorted((one, other) => compareFaults(other, one)).slice(0, 1)),
    heldUpMs: Math.max(...lives.map(({ heldUpMs = 0 }) => heldUpMs)),
  };
}

// What did not come is worse than what should not have come.
function compareFaults({ verdict: one }: SystemResult, { verdict: other }: SystemResult): number {
  return (
    one.due - one.came - (other.due - other.came) || one.falseMails - other.falseMails || one.repeated - other.repeated
  );
}

const notRun = 'not run';

/** Whether a verdict of `verdictOf` says that a system made a mistake. */
export function isWrong(verdict: string): boolean {
  return !['all', 'silent', notRun].includes(verdict);
}

/** A verdict that is not the same in two runs. */
interface Difference {
  readonly day: string;
  readonly system: string;
  readonly verdicts: readonly [string, string];
}

/** What differs in the verdicts of two runs; days and systems of one run only included. */
export function differencesOf(one: RunRecord, other: RunRecord): readonly Difference[] {
  const [before, after] = [verdictsOf(one), verdictsOf(other)];
  return [...new Map([...before, ...after])].flatMap(([key, { day, system }]) => {
    const verdicts = [before.get(key)?.verdict ?? notRun, after.get(key)?.verdict ?? notRun] as const;
    return verdicts[0] === verdicts[1] ? [] : [{ day, system, verdicts }];
  });
}

function verdictsOf({ days }: RunRecord): ReadonlyMap<string, { day: string; system: string; verdict: string }> {
  return new Map(
    days.flatMap(({ day, results }) =>
      results.map((one) => [`${day} ${one.system}`, { day, system: one.system, verdict: verdictOf(one) }] as const),
    ),
  );
}
