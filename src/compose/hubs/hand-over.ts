import type { HubParts } from '#compose/hubs/parts.ts';
import { type Clock, deadline, endsWithin } from '#kernel/clock.ts';
import { messageOf } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';

// Nodes keep what is not judged: a hand-over waits for little.
const finishMs = 300;
const drainMs = 500;
const flushMs = 1_000;
const releaseMs = 2_000;

/** Stops to judge and to notify, has the log take what was written, and gives the lease up. */
export async function giveUpLease(
  parts: HubParts,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): Promise<void> {
  using limit = deadline(clock, drainMs);
  await Promise.all([parts.monitoring?.monitor.stop(finishMs), parts.standing.outbox.drain(limit.signal)]);
  await parts.standing.outbox.stop();
  const flushed = parts.shared
    .idle()
    .catch((error: unknown) => log.warn({ reason: messageOf(error) }, 'not all is in the log'));
  await endsWithin(flushed, clock, flushMs);
  await endsWithin(parts.member.release(), clock, releaseMs);
}
