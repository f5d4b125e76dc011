import { isDeepStrictEqual } from 'node:util';
import { type Clock, endsWithin } from '#kernel/clock.ts';
import type { Log } from '#kernel/log.ts';
import { createAssessor } from './assessment.ts';
import type { Maintenance } from './doubt/maintenance.ts';
import { type Absence, isAboutUs } from './doubt/own-incidents.ts';
import type { Silence } from './doubt/silence.ts';
import { carryOver } from './judge/carry-over.ts';
import { type Memory, nothingRemembered, type Round } from './judge/decide.ts';
import type { Incident } from './judge/incident.ts';
import { windowMsOf } from './judge/recent-times.ts';
import type { RoundRecord } from './judge/round-record.ts';
import type { Target } from './judge/target.ts';
import { createRecorder } from './recorder.ts';
import type { MonitorStore } from './store.ts';
import { createExtraRounds } from './watch/extra-rounds.ts';
import type { Runner } from './watch/runner.ts';
import { type MonitorEvents, startWatch, type Watch } from './watch/watch.ts';

/** What is watched, and when nobody is told. */
export interface Plan {
  readonly targets: readonly Target[];
  readonly maintenance: readonly Maintenance[];
}

export interface MonitorPorts {
  readonly runner: Runner;
  readonly store: MonitorStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly events: MonitorEvents;
  /** Called after deliveries were committed. */
  readonly wakeOutbox: () => void;
}

/** Names of targets by what a new plan did to them. */
export interface Applied {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
}

/** The running monitor: one loop for each target. */
export interface Monitor {
  /** Resolves when it has stopped; rejects when a target is not watched any more by a defect of ours. */
  readonly ended: Promise<void>;
  /** Tells that a node on another machine has been away for long, or is back. */
  nodeAbsent(absence: Absence): void;
  /** By how many milliseconds the target that has waited longest for its round is late; 0 where none is. */
  overdueMs(): number;
  /**
   * Watches by another plan. Targets that stay as they are are not disturbed; those that change keep their state and their
   * incidents; an incident that no rule looks after any more is closed, and whoever was told of it is told that.
   */
  apply(plan: Plan): Applied;
  /** Names of what is watched. */
  targets(): readonly string[];
  /** Adds a silence, or changes the one of its id. Throws where it cannot be stored. */
  silence(silence: Silence): void;
  /** The silences that hold. */
  silences(): readonly Silence[];
  /** Nothing more is said of an open incident until it is over. Gives it, or null where no such incident is open. */
  acknowledge(incident: string, why: string): Promise<Incident | null>;
  openIncidents(): readonly Incident[];
  /**
   * Starts no new rounds, lets those that run finish for `ms` milliseconds, then ends them. Resolves when nothing runs any
   * more; calling it again waits for the same end.
   */
  stop(ms: number): Promise<void>;
}

interface Entry {
  readonly name: string;
  memory: Memory;
  /** How it is watched now, and how it is to be. */
  current: Target | null;
  wanted: Target | null;
  watch: Watch | null;
  /** Until `current` is `wanted`; null where it is. */
  change: Promise<void> | null;
}

// How long nodes may take to show up after a start.
const patienceMs = 600_000;

export function startMonitor(plan: Plan, ports: MonitorPorts): Monitor {
  const { clock, store, events, runner } = ports;
  const work = new AbortController();
  const entries = new Map<string, Entry>();
  const expected = new Map<string, number>();
  const recordings = new Set<Promise<void>>();
  const stored = store.load();
  const assessor = createAssessor(
    stored.filter(({ target }) => isAboutUs(target)).flatMap(({ openIncidents }) => openIncidents),
  );
  const extraRounds = createExtraRounds({
    clock,
    witnesses: () => assessor.witnesses(),
    heldUntil: (target, now) => assessor.heldUntil(target, now),
    request: (target) => entries.get(target)?.watch?.request(),
  });
  const writeDown = createRecorder({ ...ports, onRecorded: (done) => events.recorded(done) });
  const startedAt = clock.now();
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>();
  let isStopping = false;
  let stopped: Promise<void> | null = null;

  for (const { target, states, openIncidents } of stored) {
    if (isAboutUs(target)) continue;
    entryOf(target).memory = {
      states: new Map(states.map((state) => [state.rule, state])),
      openIncidents: new Map(openIncidents.map((incident) => [incident.id, incident])),
    };
  }
  for (const silence of store.silences(startedAt)) assessor.silences.set(silence.id, silence);
  apply(plan);

  function entryOf(name: string): Entry {
    const fresh = { name, memory: nothingRemembered, current: null, wanted: null, watch: null, change: null };
    const entry = entries.get(name) ?? fresh;
    entries.set(name, entry);
    return entry;
  }

  function apply({ targets, maintenance }: Plan): Applied {
    const next = new Map(targets.map((target) => [target.name, target]));
    const names = { added: [] as string[], changed: [] as string[], removed: [] as string[] };
    const unmeasured = new Set<string>();
    for (const target of targets) {
      const entry = entryOf(target.name);
      if (isDeepStrictEqual(entry.wanted, target)) continue;
      names[entry.wanted === null ? 'added' : 'changed'].push(target.name);
      const isAnother = entry.wanted !== null && !isDeepStrictEqual(entry.wanted.spec, target.spec);
      if (isAnother) assessor.forget(target.name);
      else if (entry.wanted === null || windowMsOf(entry.wanted) < windowMsOf(target)) unmeasured.add(target.name);
      entry.wanted = target;
    }
    for (const entry of entries.values()) {
      if (next.has(entry.name)) continue;
      if (entry.wanted !== null) names.removed.push(entry.name);
      entry.wanted = null;
    }
    assessor.setTargets(targets, (name) => entries.get(name)?.memory ?? nothingRemembered, maintenance);
    refill(targets.filter((target) => unmeasured.has(target.name) && windowMsOf(target) > 0));
    for (const entry of entries.values()) if (entry.current !== entry.wanted || entry.wanted === null) settle(entry);
    extraRounds.ask(assessor.held());
    return names;
  }

  // One look into the store for all targets that need it.
  function refill(targets: readonly Target[]): void {
    if (targets.length === 0) return;
    const { samples } = assessor;
    for (const target of targets) {
      samples.forget(target.name);
      samples.keep(target.name, windowMsOf(target));
    }
    const since = clock.now() - Math.max(...targets.map(windowMsOf));
    for (const { target, node, dueAt, seconds } of store.recentSuccesses(
      since,
      new Set(targets.map(({ name }) => name)),
    )) {
      samples.add(target, node, { at: dueAt, seconds });
    }
  }

  function settle(entry: Entry): void {
    if (entry.change !== null) return;
    entry.watch?.stop();
    if (entry.watch === null) return exchange(entry);
    entry.change = entry.watch.ended.then(() => {
      entry.change = null;
      exchange(entry);
    }, reject);
  }

  function exchange(entry: Entry): void {
    const { name, wanted } = entry;
    const { memory, record } = carryOver(name, entry.memory, entry.current, wanted, clock.now());
    entry.memory = memory;
    if (record !== null) void keep(record);
    entry.current = wanted;
    entry.watch = null;
    if (wanted === null) {
      entries.delete(name);
      expected.delete(name);
    } else if (!isStopping) entry.watch = watch(entry, wanted);
  }

  function watch(entry: Entry, target: Target): Watch {
    const watching = startWatch(
      target,
      {
        ...ports,
        events: { ...events, roundAwaited },
        judge: (round) => judge(entry, target, round),
        record: keep,
      },
      work.signal,
    );
    void watching.ended.catch(reject);
    return watching;
  }

  function judge(entry: Entry, target: Target, round: Round) {
    const { decision, inMaintenance, records, ask } = assessor.assess(target, entry.memory, round);
    entry.memory = decision.memory;
    for (const record of records) void keep(record);
    if (round.now - startedAt >= patienceMs) assessor.dropNodesBut(runner.nodes(), round.now);
    extraRounds.ask(ask);
    extraRounds.askAgain(entry.name);
    return { decision, inMaintenance };
  }

  async function keep(record: RoundRecord): Promise<void> {
    const recording = writeDown(record);
    recordings.add(recording);
    await recording;
    recordings.delete(recording);
  }

  function roundAwaited(target: Target, dueAt: number): void {
    expected.set(target.name, dueAt);
    events.roundAwaited(target, dueAt);
  }

  async function end(): Promise<void> {
    await Promise.all([...entries.values()].flatMap(({ watch, change }) => [watch?.ended ?? [], change ?? []].flat()));
    await Promise.all(recordings);
  }

  async function stop(ms: number): Promise<void> {
    isStopping = true;
    extraRounds[Symbol.dispose]();
    for (const { watch } of entries.values()) watch?.stop();
    const done = end();
    if (!(await endsWithin(done, clock, ms))) {
      work.abort(new Error('the monitor is stopping'));
      await done;
    }
    resolve();
  }

  return {
    ended,
    nodeAbsent(absence) {
      assessor.own.nodeAbsent(absence, clock.now());
      for (const record of assessor.own.review(clock.now())) void keep(record);
    },
    overdueMs() {
      let oldest = Number.POSITIVE_INFINITY;
      for (const dueAt of expected.values()) oldest = Math.min(oldest, dueAt);
      return Math.max(0, clock.now() - oldest);
    },
    apply,
    targets: () => [...entries.values()].filter(({ wanted }) => wanted !== null).map(({ name }) => name),
    silence(silence) {
      store.saveSilence(silence);
      assessor.silences.set(silence.id, silence);
      extraRounds.ask(assessor.held('silence'));
    },
    silences: () => [...assessor.silences.values()].filter(({ until }) => until > clock.now()),
    async acknowledge(id, why) {
      const acknowledged = { at: clock.now(), why };
      const own = assessor.own.acknowledge(id, acknowledged);
      if (own !== null) {
        await keep(own);
        return own.incidents[0] ?? null;
      }
      const entry = [...entries.values()].find(({ memory }) => memory.openIncidents.has(id));
      const known = entry?.memory.openIncidents.get(id);
      if (entry === undefined || known === undefined) return null;
      const incident = { ...known, acknowledged };
      entry.memory = { ...entry.memory, openIncidents: new Map(entry.memory.openIncidents).set(id, incident) };
      const dueAt = acknowledged.at;
      await keep({ target: entry.name, dueAt, votes: [], states: [], incidents: [incident], deliveries: [] });
      return incident;
    },
    openIncidents: () => [
      ...assessor.own.open,
      ...[...entries.values()].flatMap(({ memory }) => [...memory.openIncidents.values()]),
    ],
    async stop(ms) {
      stopped ??= stop(ms);
      return stopped;
    },
  };
}
