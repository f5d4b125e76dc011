import type { Clock } from '#kernel/clock.ts';
import type { ClockSteps } from '#kernel/clock-steps.ts';
import type { Log } from '#kernel/log.ts';
import { onTick } from '#kernel/ticks.ts';
import type { Assessor } from './assessment.ts';
import { isHeldTooLong, statedDoubt } from './suppress/hold-limit.ts';
import type { Memory } from './judge/decide.ts';
import { announce } from './judge/incident-life.ts';
import type { Suppression, Incident } from './judge/incident.ts';
import type { Target } from './judge/target.ts';
import { openIn } from './memories.ts';
import type { Recorder } from './recorder.ts';

/** Incidents that only a doubt about ourselves suppresses: notified, with the doubt stated, when that has lasted too long. */
export interface Holds extends Disposable {
  /** Whether something besides doubts explains the suppression of an incident at this moment. */
  isExplained(incident: Incident): boolean;
  /** Notifies an incident now if it is open, for this reason. */
  notify(incident: string, why: string): void;
}

export interface HoldsOptions {
  readonly assessor: Assessor;
  readonly memories: Map<string, Memory>;
  readonly recorder: Pick<Recorder, 'note'>;
  readonly inForce: () => {
    readonly byName: ReadonlyMap<string, Target>;
    /** For how long a doubt may suppress critical incidents, in milliseconds. */
    readonly doubtLimitMs: number;
  };
  /** Whether no message gets through to any recipient: a notification now would be stale when it arrives. Default: no. */
  readonly isCutOff?: () => boolean;
  readonly clockSteps: ClockSteps;
  readonly clock: Clock;
  readonly log: Log;
}

const lookEveryMs = 5_000;
// A restart may forget what is younger.
const storedAfterMs = 30_000;
// Time for the first checks, and the first attempts to deliver something.
const settlingMs = 60_000;

interface DoubtedIncident {
  readonly target: Target;
  readonly memory: Memory;
  readonly incident: Incident;
  readonly held: Suppression;
  readonly since: number;
}

const withoutSince = ({ since: _since, ...held }: Suppression): Suppression => held;

export function createHolds(options: HoldsOptions): Holds {
  const { assessor, memories, recorder, inForce, isCutOff = () => false, clockSteps, clock, log } = options;
  const { suppressions, connectivity, own } = assessor;
  /** Since when only a doubt suppresses each incident, by its id. */
  let sinces = new Map<string, number>();
  let lookedAt = clock.now();
  // Right after a start it is unknown whether messages get through.
  let cutOffAt = clock.elapsed();
  let timer = onTick(clock, lookEveryMs, look);

  function look(): void {
    timer = onTick(clock, lookEveryMs, look);
    clockSteps.look();
    if (isCutOff()) cutOffAt = clock.elapsed();
    for (const record of own.review(clock.now())) recorder.note(record);
    const doubted = doubtedIncidents();
    lookedAt = clock.now();
    sinces = new Map(doubted.map(({ incident, since }) => [incident.id, since]));
    if (doubted.length === 0) return;
    const due = doubted.filter(isDue);
    if (due.length > 0 && clock.elapsed() - cutOffAt >= settlingMs) notifyDoubted(doubted, due);
    for (const one of doubted) if (clock.now() - one.since >= storedAfterMs) keepSince(one);
  }

  function doubtedIncidents(): readonly DoubtedIncident[] {
    const now = clock.now();
    return suppressions.held().flatMap((name) => {
      const [target, memory] = [inForce().byName.get(name), memories.get(name)];
      if (target === undefined || memory === undefined) return [];
      return [...memory.openIncidents.values()].flatMap((incident): DoubtedIncident[] => {
        const { held, id, openedAt, acknowledged } = incident;
        if (held === null || acknowledged !== null) return [];
        if (assessor.isExplained(incident, now)) {
          if (held.since !== undefined) change(target, { ...incident, held: withoutSince(held) });
          return [];
        }
        const known = sinces.get(id) ?? held.since ?? Math.max(openedAt, lookedAt);
        return [{ target, memory, incident, held, since: Math.min(known, now) }];
      });
    });
  }

  function isDue({ incident, memory, since }: DoubtedIncident): boolean {
    const state = memory.states.get(incident.rule);
    const { doubtLimitMs } = inForce();
    const [now, elapsedBetween] = [clock.now(), clockSteps.between];
    return isHeldTooLong({ incident, state, since, doubtLimitMs, connectivity, now, elapsedBetween });
  }

  // Incidents that one doubt suppresses are one message: the others come along.
  function notifyDoubted(doubted: readonly DoubtedIncident[], due: readonly DoubtedIncident[]): void {
    const connected = due.filter(({ held }) => held.by === 'connectivity');
    const severities = new Set(connected.map(({ incident }) => incident.severity));
    const isAlong = ({ held, incident, memory }: DoubtedIncident) =>
      held.by === 'connectivity' &&
      severities.has(incident.severity) &&
      (memory.states.get(incident.rule)?.goodSince ?? null) === null;
    const all = doubted.filter((one) => due.includes(one) || isAlong(one));
    for (const { target, incident } of all) release(target, incident);
    const incidents = all.map(({ incident }) => incident.id);
    log.warn(
      { incidents: incidents.slice(0, 10), count: incidents.length, held: due[0]?.held.why },
      'notifying despite doubts: suppressed for too long',
    );
  }

  function release(target: Target, incident: Incident, late: string | null = null): void {
    const { held } = incident;
    const doubted = held === null ? incident : { ...incident, doubt: statedDoubt(held, connectivity) };
    const { incident: released, deliveries } = announce(doubted, target.recipients, clock.now(), late);
    sinces.delete(incident.id);
    change(target, released, deliveries);
  }

  function keepSince({ target, memory, incident, held, since }: DoubtedIncident): void {
    const isStill = memories.get(target.name)?.openIncidents.get(incident.id) === memory.openIncidents.get(incident.id);
    if (isStill && held.since !== since) change(target, { ...incident, held: { ...held, since } });
  }

  function change(
    target: Target,
    incident: Incident,
    deliveries: ReturnType<typeof announce>['deliveries'] = [],
  ): void {
    const { name } = target;
    const memory = memories.get(name);
    if (memory === undefined) return;
    const changed = { ...memory, openIncidents: new Map(memory.openIncidents).set(incident.id, incident) };
    memories.set(name, changed);
    suppressions.incidentsChanged(target, changed);
    recorder.note({ target: name, dueAt: clock.now(), votes: [], states: [], incidents: [incident], deliveries });
  }

  return {
    isExplained: (incident) => assessor.isExplained(incident, clock.now()) || isCutOff(),
    notify(id, why) {
      own.notify(id, why, clock.now());
      for (const record of own.review(clock.now())) recorder.note(record);
      const incident = openIn(memories).find((one) => one.id === id);
      const target = inForce().byName.get(incident?.target ?? '');
      if (incident !== undefined && target !== undefined) release(target, incident, why);
    },
    [Symbol.dispose]: () => timer[Symbol.dispose](),
  };
}
