import type { Suppression, Incident, StatedDoubt } from '../judge/incident.ts';
import type { RuleState } from '../judge/rule-state.ts';
import type { ElapsedBetween } from '#kernel/clock-steps.ts';
import type { Connectivity } from './connectivity.ts';

/** How long doubts about ourselves may suppress a notification, in milliseconds. */
export const defaultDoubtLimitMs = 300_000;

// A warning can wait longer.
const lessUrgent = 3;
// After own connectivity is back, targets are checked again before any notification.
const recheckMs = 45_000;

/** For how long a doubt may suppress an incident of this severity. */
export function limitOf({ severity }: Pick<Incident, 'severity'>, doubtLimitMs: number): number {
  return severity === 'critical' ? doubtLimitMs : lessUrgent * doubtLimitMs;
}

export interface HoldQuestion {
  readonly incident: Incident;
  readonly state: Pick<RuleState, 'goodSince'> | undefined;
  /** Since when only a doubt holds it back. */
  readonly since: number;
  readonly doubtLimitMs: number;
  readonly connectivity: Pick<Connectivity, 'returnedAt'>;
  readonly now: number;
  readonly elapsedBetween: ElapsedBetween;
}

/**
 * Whether an incident has been held back by a doubt for as long as that may be. Its target may have been seen well again, and not
 * often enough to be over: then the next rounds tell, unless they never come. The same holds right after own connectivity is
 * back, once. Pure.
 */
export function isHeldTooLong(question: HoldQuestion): boolean {
  const { incident, state, since, doubtLimitMs, connectivity, now, elapsedBetween } = question;
  const limitMs = limitOf(incident, doubtLimitMs);
  const heldMs = elapsedBetween(since, now);
  if (heldMs < limitMs) return false;
  if (heldMs >= 2 * limitMs) return true;
  const goodSince = state?.goodSince ?? null;
  if (goodSince !== null && elapsedBetween(goodSince, now) < limitMs) return false;
  const isReturning = elapsedBetween(connectivity.returnedAt, now) < recheckMs;
  return !(incident.held?.by === 'connectivity' && isReturning);
}

/** What may be wrong instead, in words, for an incident that a doubt suppresses. */
export function statedDoubt(held: Suppression, { isUncertain, returnedAt, lastUpAt }: ConnectivityView): StatedDoubt {
  switch (held.by) {
    case 'connectivity':
      return isUncertain
        ? {
            or: 'this Watchpost is cut off',
            why: 'no other target has been seen up',
            since: lastUpAt === 0 ? null : lastUpAt,
          }
        : {
            or: 'this Watchpost was cut off',
            why: 'it has not been seen down often enough after our own connectivity came back',
            since: returnedAt === 0 ? null : returnedAt,
          };
    case 'dependency':
      return { or: 'it cannot be reached', why: held.why, since: null };
    case 'service':
      return { or: 'it cannot be checked', why: held.why, since: null };
    case 'maintenance':
    case 'silence':
    case 'outage':
      return {
        or: 'it is up again',
        why: `no check has confirmed it since the end of what held it back: ${held.why}`,
        since: null,
      };
  }
}

type ConnectivityView = Pick<Connectivity, 'isUncertain' | 'returnedAt' | 'lastUpAt'>;
