import { failed, failure, type Outcome } from '#checks/index.ts';
import { clockJitterMs } from '#kernel/clock.ts';
import { describeDuration } from '#kernel/units.ts';
import { formatTime } from '#kernel/zoned-time.ts';
import type { HeartbeatState, OpenRun } from '../judge/heard.ts';
import type { ExpectedPings } from './expected.ts';

/** A call of a job. */
export interface Ping {
  readonly at: number;
  readonly kind: 'start' | 'success' | 'failure';
  /** What the job calls this run, so that start and end belong together and a repeated call is known; or null. */
  readonly run: string | null;
  readonly exitCode: number | null;
  /** The last lines of what it sent. */
  readonly log: readonly string[];
}

/** What a call changes. */
export interface PingResult {
  readonly heard: HeartbeatState;
  /** How the run that the ping reports ended, or null if it reports none. */
  readonly outcome: Outcome | null;
  /** Whether the very call came before. */
  readonly isRepeat: boolean;
}

/** The moment at which a job is overdue without another ping. */
export interface Alarm {
  readonly at: number;
  readonly outcome: Outcome;
  /** What is known from then on. */
  readonly heard: HeartbeatState;
}

const mostOpen = 10;
const mostCalls = 20;
const longestSeconds = 1e6;

export function newlyHeard(since: number): HeartbeatState {
  return { since, at: null, began: null, open: [], missedUntil: null, last: null, calls: [] };
}

/** The state of a job by a clock that was set back to `now`, if it was: nothing was heard after that. Pure. */
export function notHeardAfter(heard: HeartbeatState, now: number): HeartbeatState {
  const { since, at, began, open, missedUntil, last } = heard;
  const newest = Math.max(since, at ?? since, began ?? since, missedUntil ?? since, last?.dueAt ?? since);
  if (newest <= now + clockJitterMs) return heard;
  const before = (moment: number | null) => (moment === null ? null : Math.min(moment, now));
  return {
    ...heard,
    since: Math.min(since, now),
    at: before(at),
    began: before(began),
    open: open.map((run) => ({ ...run, at: Math.min(run.at, now) })),
    missedUntil: before(missedUntil),
    last: last === null ? null : { ...last, dueAt: Math.min(last.dueAt, now) },
  };
}

/** The state of a job after another ping. Pure. */
export function takeBeat(heard: HeartbeatState, beat: Ping): PingResult {
  const call = beat.run === null ? null : `${beat.kind === 'start' ? 'start' : 'end'} ${beat.run}`;
  if (call !== null && heard.calls.includes(call)) return { heard, outcome: null, isRepeat: true };
  const calls = call === null ? heard.calls : [...heard.calls, call].slice(-mostCalls);
  const next = { ...heard, at: beat.at, missedUntil: null, calls };
  if (beat.kind === 'start') {
    // Its end was here before: calls that are tried again may overtake each other.
    if (beat.run !== null && heard.calls.includes(`end ${beat.run}`))
      return { heard: { ...heard, calls }, outcome: null, isRepeat: true };
    // A run without a name may be another one than the last, which never ended.
    const others = heard.open.filter(({ run }) => run === null || run !== beat.run);
    const open = bounded([...others, { run: beat.run, at: beat.at, settled: false }]);
    return { heard: { ...next, began: beat.at, open }, outcome: null, isRepeat: false };
  }
  const start = heard.open.findLast(({ run }) => run === beat.run)?.at ?? null;
  const dueAt = Math.max(beat.at, (heard.last?.dueAt ?? 0) + 1);
  const outcome = outcomeOf(beat, start);
  const last = { dueAt, failure: outcome.status === 'up' ? null : outcome.failure };
  const began = start === null ? beat.at : (heard.began ?? start);
  const open = heard.open
    .filter(({ run }) => run !== beat.run)
    .map((one) => (one.at < (start ?? beat.at) ? { ...one, settled: true } : one));
  return { heard: { ...next, began, open, last }, outcome, isRepeat: false };
}

// The oldest one whose end is awaited decides when the job is overdue, the newest one which run ends.
function bounded(open: readonly OpenRun[]): readonly OpenRun[] {
  if (open.length <= mostOpen) return open;
  const settled = open.findIndex((run) => run.settled);
  return open.toSpliced(settled === -1 ? 1 : settled, 1);
}

function outcomeOf({ at, kind, exitCode, log }: Ping, start: number | null): Outcome {
  const seconds = start === null ? null : Math.min(Math.max(0, at - start) / 1_000, longestSeconds);
  const detail = { exit_code: exitCode, log };
  if (kind === 'success') return { status: 'up', seconds, address: null, phases: {}, facts: {}, detail };
  const said = exitCode === null ? 'said that it failed' : `ended with exit code ${exitCode}`;
  const last = log.at(-1);
  return failed(failure('target', 'exit', last === undefined ? said : `${said}: ${last}`), { seconds, detail });
}

/**
 * When a job is overdue without another ping, and what is said of it then; null if nothing is expected. `hearsSince`
 * is since when calls could be heard without a break: no job is late before a full grace from then. A run that may take a time of
 * its own is not late while it does. Otherwise the first run since the last end has until the next one is late, however many
 * begin meanwhile: a job that is killed in each run reports nothing but starts.
 */
export function nextAlarm(heard: HeartbeatState, expected: ExpectedPings, hearsSince: number): Alarm | null {
  const { graceMs, maxRuntimeMs } = expected;
  const atLeast = hearsSince + graceMs;
  const [running] = maxRuntimeMs === null ? [] : heard.open.filter(({ settled }) => !settled);
  if (running !== undefined && maxRuntimeMs !== null) return overrun(heard, running, expected, maxRuntimeMs, atLeast);
  const awaited = firstSinceEnd(heard);
  const due = awaited === undefined ? dueAfter(heard, expected) : expected.afterPing(awaited.at);
  if (due === null) return null;
  const at = inOrder(heard, Math.max(due + graceMs, atLeast));
  const reason = awaited === undefined ? lateness(heard, expected, due) : unfinished(heard, awaited, due);
  const missedUntil = Math.max(due, at - graceMs);
  const open = heard.open.map((run) =>
    awaited === undefined || run.at <= awaited.at ? { ...run, settled: true } : run,
  );
  return { at, outcome: failed(reason), heard: { ...heard, open, missedUntil, last: { dueAt: at, failure: reason } } };
}

// Runs may overlap: as long as any end, those that began before that end are not missed.
function firstSinceEnd({ open, last }: HeartbeatState): OpenRun | undefined {
  const isEnd = last !== null && (last.failure === null || last.failure.code === 'exit');
  return open.find(({ at, settled }) => !settled && (!isEnd || at > last.dueAt));
}

function unfinished({ open }: HeartbeatState, run: OpenRun, due: number) {
  const next = open.find(({ at }) => at > run.at);
  const since =
    next === undefined
      ? `the next ping was due at ${formatTime(due, 'UTC')}`
      : `the next run began at ${formatTime(next.at, 'UTC')}`;
  return failure('target', 'unfinished', `began at ${formatTime(run.at, 'UTC')} and has not ended; ${since}`);
}

function overrun(
  heard: HeartbeatState,
  running: OpenRun,
  { graceMs }: ExpectedPings,
  maxRuntimeMs: number,
  atLeast: number,
): Alarm {
  const at = inOrder(heard, Math.max(running.at + maxRuntimeMs, atLeast));
  const message = `has been running for more than ${describeDuration(maxRuntimeMs)}, since ${formatTime(running.at, 'UTC')}`;
  const open = heard.open.map((one) => (one === running ? { ...one, settled: true } : one));
  const reason = failure('target', 'unfinished', message);
  const missedUntil = at - graceMs;
  return { at, outcome: failed(reason), heard: { ...heard, open, missedUntil, last: { dueAt: at, failure: reason } } };
}

// No two rounds have one name.
const inOrder = ({ last }: HeartbeatState, at: number) => Math.max(at, (last?.dueAt ?? 0) + 1);

/** Whether a job that was late is not late by what is expected now, whatever was missed before. */
export function hasTimeLeft(heard: HeartbeatState, expected: ExpectedPings, now: number): boolean {
  const due = dueAfter({ ...heard, missedUntil: null }, expected);
  return due !== null && due + expected.graceMs > now;
}

function dueAfter({ since, at, began, missedUntil }: HeartbeatState, expected: ExpectedPings): number | null {
  if (missedUntil !== null) return expected.after(missedUntil);
  // Cron starts jobs: their durations say nothing of the next one. Others ping at an interval.
  const ping = expected.schedule.kind === 'cron' ? began : at;
  return ping === null ? expected.after(since) : expected.afterPing(ping);
}

function lateness(heard: HeartbeatState, { schedule }: ExpectedPings, due: number) {
  const { at, began, open } = heard;
  const newest = open.at(-1);
  if (newest !== undefined && newest.at === began) return unfinished(heard, newest, due);
  const never = at === null ? 'no ping yet' : `no ping since ${formatTime(at, 'UTC')}`;
  const rhythm =
    schedule.kind === 'every' ? `every ${describeDuration(schedule.everyMs)}` : `due at ${formatTime(due, 'UTC')}`;
  return failure('target', 'late', `late: ${never} (${rhythm})`);
}
