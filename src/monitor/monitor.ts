import type { TargetBudgetLeft } from '#history/reader.ts';
import { type Clock, endsWithin } from '#kernel/clock.ts';
import { createClockSteps } from '#kernel/clock-steps.ts';
import type { Log } from '#kernel/log.ts';
import { type Assessor, createAssessor } from './assessment.ts';
import { defaultDoubtLimitMs } from './suppress/hold-limit.ts';
import type { Maintenance } from './suppress/maintenance.ts';
import type { NodeAbsence, Trouble, UnjudgedRounds } from './suppress/own-incident-kinds.ts';
import type { Silence } from './suppress/silence.ts';
import type { Ping } from './heartbeats/hear.ts';
import { nothingRemembered } from './judge/decide.ts';
import { type Incident, type VoteLine, voteTable } from './judge/incident.ts';
import type { RoundRecord } from './judge/round-record.ts';
import type { Target } from './judge/target.ts';
import type { Vote } from './judge/vote.ts';
import { createHandOver } from './hand-over.ts';
import { createHolds } from './holds.ts';
import { createListeners } from './listeners.ts';
import { createCheckedSpecs } from './checked-specs.ts';
import { lookBack } from './look-back.ts';
import { acknowledge, memoriesOf, openIn, ownOf } from './memories.ts';
import { createOverdue } from './overdue.ts';
import { createPast, type PastVerdicts } from './past.ts';
import { createRecorder } from './recorder.ts';
import { createRounds } from './rounds.ts';
import type { MonitorStore } from './store.ts';
import { createExtraRounds } from './watch/extra-rounds.ts';
import { type WatchSetChange, createWatchSet } from './watch/watch-set.ts';
import type { Runner } from './watch/runner.ts';
import { type MonitorEvents, startWatch, type Watch, type WatchPorts } from './watch/watch.ts';

/** The targets, and when notifications are suppressed. */
export interface MonitorSettings {
  readonly targets: readonly Target[];
  readonly maintenance: readonly Maintenance[];
  /** After how many milliseconds an unreachable check service is notified; null for never. Default: 15 minutes. */
  readonly unknownAfterMs?: number | null;
  /** For how many milliseconds a doubt about ourselves may suppress critical incidents. Default: 5 minutes. */
  readonly doubtLimitMs?: number;
}

export interface MonitorPorts {
  readonly runner: Runner;
  readonly store: MonitorStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly events: MonitorEvents;
  /** Called after deliveries were committed, or have to be sent unstored. */
  readonly wakeOutbox: () => void;
  /** Called with the consequences of a round that could not be stored for seconds: notifications go out nevertheless. */
  readonly onUnstored: (record: RoundRecord) => void;
  /** Whether no message gets through to any recipient. Default: no. */
  readonly isCutOff?: () => boolean;
}

/** The running monitor: one loop for each target. */
export interface Monitor {
  /** Resolves when it has stopped; rejects when a target is not watched any more by a defect of ours. */
  readonly ended: Promise<void>;
  /** Tells that a node on another machine has been away for long, or is back. */
  nodeAbsent(absence: NodeAbsence): void;
  /**
   * Takes the call of a target that is heard of. Resolves to whether it is stored: if not, it is to come again, and counts once
   * if it names its run.
   */
  hear(target: string, beat: Ping): Promise<boolean>;
  /** Tells that something of our own does not work, or works again. */
  troubled(trouble: Trouble): void;
  /** Tells that what nodes saw while this program was away was too much to be judged. */
  unjudged(unjudged: UnjudgedRounds): void;
  /** By how many milliseconds the target that has waited longest for its round is late; 0 if none is. */
  overdueMs(): number;
  /**
   * Watches by another settings. Targets that stay as they are are not disturbed; those that change keep their state and their
   * incidents; an incident that no rule evaluates any more is closed, and its recipients are notified of that.
   */
  apply(settings: MonitorSettings): WatchSetChange;
  /** Names of what is watched. */
  targets(): readonly string[];
  /** Adds a silence, or changes the one of its id. Throws if it cannot be stored. */
  silence(silence: Silence): void;
  /** The silences that hold. */
  silences(): readonly Silence[];
  /** Nothing more is said of an open incident until it is over. Gives it, or null if no such incident is open. */
  acknowledge(incident: string, why: string): Promise<Incident | null>;
  openIncidents(): readonly Incident[];
  /**
   * Whether more than a doubt about ourselves suppresses an open incident: maintenance, a silence, an outage that was notified, or
   * that no message gets through to any recipient.
   */
  isExplained(incident: Incident): boolean;
  /** Notifies an incident now if it is open, for this reason. */
  notify(incident: string, why: string): void;
  /** What is left of each objective's budget at this moment, or of that of one target; nothing if there is none. */
  budgets(target?: string): readonly TargetBudgetLeft[];
  /** What becomes known about rounds of the past. */
  readonly past: Pick<PastVerdicts, 'verdictOf' | 'changed' | 'countBudgets'>;
  /** What the nodes saw of an open incident's target in its last round, if it had one since the start; or null. */
  seenNow(incident: Incident): readonly VoteLine[] | null;
  /**
   * Starts no new rounds, lets those that run finish for `ms` milliseconds, then ends them. Resolves when nothing runs any
   * more; calling it again waits for the same end.
   */
  stop(ms: number): Promise<void>;
}

export function startMonitor(settings: MonitorSettings, ports: MonitorPorts): Monitor {
  const { clock, store, events, runner } = ports;
  const work = new AbortController();
  const overdue = createOverdue(clock);
  const clockSteps = createClockSteps(clock);
  const stored = store.load();
  const assessor = createAssessor(ownOf(stored), () => runner.url ?? '', clockSteps.between);
  const memories = memoriesOf(stored);
  const specs = createCheckedSpecs((targets) => store.checkedSpecs(targets));
  const past = createPast({ budgets: assessor.budgets, store, rounds: () => rounds, clock });
  const recorder = createRecorder({ ...ports, onRecorded: (record) => recorded(record, past, events) });
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>();
  const listeners = createListeners({ stored, rounds: () => rounds, recorder, assessor, awaited, clock });
  const watchSet = createWatchSet([...memories.keys(), ...listeners.known()], { start, handOver, failed: reject });
  const carry = createHandOver({ assessor, specs, memories, recorder, clock });
  const { heldUntil } = assessor.suppressions;
  const request = (target: string, isNeeded: boolean) => watchSet.request(target, isNeeded);
  const extraRounds = createExtraRounds({ clock, runner, doubt: assessor, heldUntil, request });
  const rounds = createRounds({ assessor, memories, recorder, extraRounds, runner, events, clock });
  const watchPorts: WatchPorts = { ...ports, events: { ...events, roundAwaited: awaited }, rounds, failed: reject };
  let inForce = forceOf(settings);
  const holds = createHolds({ ...ports, clockSteps, assessor, memories, recorder, inForce: () => inForce });
  let stopped: Promise<void> | null = null;

  for (const silence of store.silences(clock.now())) assessor.suppressions.silences.put(silence, clock.now());
  apply(settings);

  function apply(next: MonitorSettings): WatchSetChange {
    inForce = forceOf(next);
    const { targets, maintenance, unknownAfterMs, doubtLimitMs } = inForce;
    const { applied, changed } = watchSet.want(targets);
    past.setTargets(targets);
    const anew = specs.othersAmong(changed);
    const memoryOf = (name: string) => memories.get(name) ?? nothingRemembered;
    assessor.setTargets(targets, memoryOf, maintenance, unknownAfterMs, doubtLimitMs);
    lookBack(assessor, store, changed, anew, clock.now());
    watchSet.enforce();
    extraRounds.ask(assessor.suppressions.held());
    return applied;
  }

  function handOver(name: string, last: Target | null, next: Target | null): void {
    carry(name, last, next);
    if (next === null) rounds.forget(name);
    if (next === null) overdue.forget(name);
    listeners.handOver(name, next);
  }

  function awaited(target: Target, dueAt: number): void {
    overdue.expect(target.name, dueAt);
    events.roundAwaited(target, dueAt);
  }

  function start(target: Target): Watch {
    const listener = listeners.start(target);
    if (listener !== null) return listener;
    return startWatch(target, watchPorts, work.signal);
  }

  function updateOwnIncidents(change: (own: Assessor['own']) => void): void {
    change(assessor.own);
    for (const record of assessor.own.review(clock.now())) recorder.note(record);
  }

  async function stop(ms: number): Promise<void> {
    for (const part of [extraRounds, listeners, past, holds]) part[Symbol.dispose]();
    runner.leave?.();
    watchSet.stop();
    const done = watchSet.idle().then(async () => recorder.idle());
    if (!(await endsWithin(done, clock, ms))) {
      work.abort(new Error('the monitor is stopping'));
      watchSet.cut();
      recorder.giveUp();
      await watchSet.idle();
    }
    resolve();
  }

  return {
    ended,
    nodeAbsent: (absence) => updateOwnIncidents((own) => own.nodeAbsent(absence, clock.now())),
    hear: async (target, beat) => listeners.hear(target, beat),
    troubled: (trouble) => updateOwnIncidents((own) => own.troubled(trouble, clock.now())),
    unjudged: (unjudged) => updateOwnIncidents((own) => own.unjudged(unjudged, clock.now())),
    overdueMs: () => overdue.ms(),
    apply,
    targets: () => watchSet.names(),
    silence(silence) {
      store.saveSilence(silence);
      assessor.suppressions.silences.put(silence, clock.now());
      extraRounds.ask(assessor.suppressions.held('silence'));
    },
    silences: () => assessor.suppressions.silences.after(clock.now()),
    async acknowledge(id, why) {
      const record = acknowledge(assessor.own, memories, id, { why, at: clock.now() });
      if (record === null) return null;
      await recorder.keep(record);
      return record.incidents[0] ?? null;
    },
    seenNow: ({ target }) => tableOf(rounds.lastVotes(target)),
    budgets: (target) => assessor.budgets.left(clock.now(), target),
    past,
    isExplained: (incident) => holds.isExplained(incident),
    notify: (id, why) => holds.notify(id, why),
    openIncidents: () => [...assessor.own.open, ...openIn(memories)],
    stop: async (ms) => (stopped ??= stop(ms)),
  };
}

function recorded(
  record: RoundRecord,
  past: Pick<PastVerdicts, 'changed'>,
  events: Pick<MonitorEvents, 'recorded'>,
): void {
  if (record.revisedAt !== undefined) past.changed(record.target);
  events.recorded(record);
}

function forceOf({
  targets,
  maintenance,
  unknownAfterMs = 900_000,
  doubtLimitMs = defaultDoubtLimitMs,
}: MonitorSettings) {
  return { targets, maintenance, unknownAfterMs, doubtLimitMs, byName: new Map(targets.map((one) => [one.name, one])) };
}

const tableOf = (votes: readonly Vote[] | null) => (votes === null ? null : voteTable(votes));
