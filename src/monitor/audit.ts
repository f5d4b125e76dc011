import type { Clock } from '#kernel/clock.ts';
import { createClockSteps, type ElapsedBetween, plainlyBetween } from '#kernel/clock-steps.ts';
import { messageOf } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import { describeDuration } from '#kernel/units.ts';
import { defaultDoubtLimitMs, limitOf } from './suppress/hold-limit.ts';
import type { Incident } from './judge/incident.ts';
import type { Monitor } from './monitor.ts';

/** An incident, and what the audit has to know about it besides. */
export interface IncidentAudit {
  readonly incident: Pick<Incident, 'openedAt' | 'severity' | 'held' | 'notified' | 'acknowledged'>;
  /** How many notifications of it there are, whatever became of them. */
  readonly deliveries: number;
  /** Since when nothing explains its suppression: no maintenance, silence or notified outage; null if something does. */
  readonly unexplainedSince: number | null;
}

export interface AuditOptions {
  readonly now: number;
  readonly doubtLimitMs?: number;
  readonly elapsedBetween?: ElapsedBetween;
}

// An incident is stored and its notifications are made within seconds.
const slackMs = 120_000;

/**
 * Why an incident counts as unreported, in words; null if its rules, recipients, suppression or an acknowledgement explain
 * why no notification was made, or if one was. Pure.
 */
export function unreportedReason(
  { incident, deliveries, unexplainedSince }: IncidentAudit,
  { now, doubtLimitMs = defaultDoubtLimitMs, elapsedBetween = plainlyBetween }: AuditOptions,
): string | null {
  const { openedAt, held, notified, acknowledged } = incident;
  if (deliveries > 0 || acknowledged !== null) return null;
  if (held !== null) {
    if (unexplainedSince === null) return null;
    // A doubt may take twice its limit, right after own connectivity is back.
    const heldMs = elapsedBetween(unexplainedSince, now);
    if (heldMs < 2 * limitOf(incident, doubtLimitMs) + slackMs) return null;
    return `held back by a doubt for ${describeDuration(heldMs)}: ${held.why}`;
  }
  if (notified?.length === 0 || elapsedBetween(openedAt, now) < slackMs) return null;
  const count = notified === null ? 'its' : `${notified.length}`;
  return `it was to be notified to ${count} recipients, and no notification was made`;
}

/** What is stored about an incident, as the audit asks of it after the program has ended. */
export interface StoredIncident extends IncidentAudit {
  readonly id: string;
}

/** Why stored incidents, open or over, count as unreported: for tests that only have the database. Pure. */
export function findUnreported(incidents: readonly StoredIncident[], options: AuditOptions): readonly string[] {
  return incidents.flatMap(({ id, ...audited }) => {
    const reason = unreportedReason(audited, options);
    return reason === null ? [] : [`${id} is unreported: ${reason}`];
  });
}

/** Looks every minute for open incidents without a notification that nothing explains. */
export interface Audit extends Disposable {
  /** The incidents that it found and that are still open. */
  unreported(): readonly string[];
}

export interface AuditPorts {
  readonly monitor: Pick<Monitor, 'openIncidents' | 'isExplained' | 'notify'>;
  /** How many notifications of an incident's beginning there are, stored or not. */
  readonly deliveriesOf: (incident: string) => number;
  readonly doubtLimitMs: () => number;
  readonly clock: Clock;
  readonly log: Log;
}

const lookEveryMs = 60_000;

/** Starts the audit. What it finds is logged, counted, and notified at once. */
export function startAudit({ monitor, deliveriesOf, doubtLimitMs, clock, log }: AuditPorts): Audit {
  /** Found, by what was said of it. */
  const found = new Map<string, string>();
  const reported = new Set<string>();
  const unexplained = new Map<string, number>();
  const clockSteps = createClockSteps(clock);
  let timer = clock.after(lookEveryMs, look);

  function look(): void {
    timer = clock.after(lookEveryMs, look);
    clockSteps.look();
    const open = monitor.openIncidents();
    const ids = new Set(open.map(({ id }) => id));
    for (const known of [found, reported, unexplained])
      for (const id of known.keys()) if (!ids.has(id)) known.delete(id);
    try {
      for (const incident of open) if (!reported.has(incident.id)) examine(incident);
    } catch (error) {
      log.error({ err: error }, `cannot audit incidents: ${messageOf(error)}`);
    }
  }

  function examine(incident: Incident): void {
    const { id, target, held } = incident;
    const deliveries = held === null ? deliveriesOf(id) : 0;
    if (deliveries > 0) reported.add(id);
    const now = clock.now();
    if (held === null || monitor.isExplained(incident)) unexplained.delete(id);
    else unexplained.set(id, unexplained.get(id) ?? now);
    const audited = { incident, deliveries, unexplainedSince: unexplained.get(id) ?? null };
    const reason = unreportedReason(audited, { now, doubtLimitMs: doubtLimitMs(), elapsedBetween: clockSteps.between });
    if (reason === null) return;
    if (!found.has(id)) log.error({ incident: id, target, reason }, 'found an unreported incident; notifying now');
    found.set(id, reason);
    monitor.notify(id, 'the audit found that no notification had been made');
  }

  return {
    unreported: () => [...found.keys()],
    [Symbol.dispose]: () => timer[Symbol.dispose](),
  };
}
