import type { NatsConnection } from '@nats-io/transport-node';
import type { HubParts } from '#compose/hubs/parts.ts';
import { type Clock, deadline, endsWithin } from '#kernel/clock.ts';
import { announceRelease } from '#hubs/peers.ts';
import { messageOf } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';

// Nodes keep what is not judged: a hand-over waits for little.
const finishMs = 100;
const drainMs = 500;
const flushMs = 1_000;
const releaseMs = 2_000;

export interface GiveUpOptions {
  /** The name of this hub. */
  readonly hub: string;
  readonly connection: () => NatsConnection | null;
  readonly clock: Clock;
  readonly log: Log;
}

/** Stops to judge and to notify, has the log take what was written, gives the lease up, and lets the other hubs know. */
export async function giveUpLease(parts: HubParts, { hub, connection, clock, log }: GiveUpOptions): Promise<void> {
  using limit = deadline(clock, drainMs);
  await Promise.all([parts.monitoring?.monitor.stop(finishMs), parts.standing.outbox.drain(limit.signal)]);
  await parts.standing.outbox.stop();
  const flushed = parts.shared
    .idle()
    .catch((error: unknown) => log.warn({ reason: messageOf(error) }, 'not all is in the log'));
  await endsWithin(flushed, clock, flushMs);
  await endsWithin(parts.member.release(), clock, releaseMs);
  const current = connection();
  if (current !== null) announceRelease(current);
  log.info({ hub }, 'lease handed over');
}
