import type { Clock } from '#kernel/clock.ts';
import type { Log } from '#kernel/log.ts';
import { type QueueAddress, keyOf } from './recipient-queues.ts';

/** What other sides refused lately. */
export interface Refusals {
  /** A recipient was notified of these incidents. */
  delivered(channel: string, incidents: readonly string[]): void;
  /** The other side said that it will never accept a message about these incidents to an address. */
  rejected(address: QueueAddress, incidents: readonly string[]): void;
  /** The addresses that were rejected for an incident, as `keyOf` writes them. */
  rejectedFor(incident: string): ReadonlySet<string>;
  /** A message was refused, for now or for good; `notified` says whether another recipient is known to have been notified. */
  refused(channel: string, incidents: readonly string[], reason: string, notified: boolean): void;
  /** For how many milliseconds no recipient of a delivery could be reached, by any channel; 0 if one could. */
  ms(): number;
  /** The last attempt to reach an address, as `keyOf` writes it, failed. */
  unreached(address: string): void;
  /** An answer came from an address, whatever it says; `ageMs` is how long ago. */
  reached(address: string, ageMs?: number): void;
  /** Whether attempts fail that a way out would explain, and no answer came from any address within so many milliseconds. */
  isCutOff(withinMs: number): boolean;
  /** Whether a channel has taken nothing for a while: then what is taken now says that its server is back. */
  isAway(channel: string): boolean;
}

const none: ReadonlySet<string> = new Set();
const mostIncidents = 10_000;
// One recipient may be refused while others are notified: then the server was not away.
const awayMs = 5_000;
// A message goes to all its recipients within this: one that fails while another answers is not cut off.
const togetherMs = 60_000;

/** A server that is away is logged when it goes, when its reason changes, and when it is back: not for each message that waits. */
export function createRefusals(clock: Clock, log: Log): Refusals {
  const notified = new Set<string>();
  const rejections = new Map<string, Set<string>>();
  const reasons = new Map<string, { readonly reason: string; readonly since: number; messages: number }>();
  let unnotifiedSince: number | null = null;
  /** Since when each address fails. */
  const unreached = new Map<string, number>();
  /** When each address answered last. */
  const reached = new Map<string, number>();
  let reachedAt = Number.NEGATIVE_INFINITY;

  // One that never answered, or failed already when one answered that has not failed since, says nothing about the way out.
  function isEvidence([address, since]: readonly [string, number]): boolean {
    if (reached.size > 0 && !reached.has(address)) return false;
    return ![...reached].some(([other, at]) => !unreached.has(other) && at >= since - togetherMs);
  }

  return {
    delivered(channel, incidents) {
      for (const id of incidents) notified.add(id);
      for (const id of notified) {
        if (notified.size <= mostIncidents) break;
        notified.delete(id);
      }
      unnotifiedSince = null;
      const known = reasons.get(channel);
      if (known === undefined) return;
      reasons.delete(channel);
      const waitedMs = clock.elapsed() - known.since;
      log.info({ channel, waitedMs, refused: known.messages }, 'messages are accepted again');
    },
    rejected(address, incidents) {
      for (const id of incidents) rejections.set(id, (rejections.get(id) ?? new Set()).add(keyOf(address)));
      for (const id of rejections.keys()) {
        if (rejections.size <= mostIncidents) break;
        rejections.delete(id);
      }
    },
    rejectedFor: (incident) => rejections.get(incident) ?? none,
    refused(channel, incidents, reason, isNotified) {
      if (!isNotified && !incidents.some((id) => notified.has(id))) unnotifiedSince ??= clock.elapsed();
      const known = reasons.get(channel);
      if (known?.reason === reason) known.messages += 1;
      else {
        reasons.set(channel, { reason, since: known?.since ?? clock.elapsed(), messages: (known?.messages ?? 0) + 1 });
        log.warn({ channel, incidents: incidents.slice(0, 10), reason }, 'messages are rejected');
      }
    },
    unreached(address) {
      if (!unreached.has(address)) unreached.set(address, clock.elapsed());
    },
    reached(address, ageMs = 0) {
      const at = clock.elapsed() - Math.max(ageMs, 0);
      if (at >= (unreached.get(address) ?? at)) unreached.delete(address);
      reached.set(address, Math.max(at, reached.get(address) ?? at));
      reachedAt = Math.max(reachedAt, at);
    },
    isCutOff: (withinMs) => clock.elapsed() - reachedAt >= withinMs && [...unreached].some(isEvidence),
    ms: () => (unnotifiedSince === null ? 0 : Math.max(0, clock.elapsed() - unnotifiedSince)),
    isAway(channel) {
      const since = reasons.get(channel)?.since;
      return since !== undefined && clock.elapsed() - since >= awayMs;
    },
  };
}
