import { type Clock, deadline, DeadlineError, orAbort } from '#kernel/clock.ts';
import { messageOf } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import type { Channel, Message, DeliveryReceipt } from './channel.ts';

export interface AttemptOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Ends it sooner. */
  readonly signal: AbortSignal;
}

const graceMs = 5_000;

/** One attempt to send a message, over within its deadline whatever the channel does. Never rejects. */
export async function attemptToSend(
  channel: Channel,
  message: Message,
  recipient: string,
  { clock, log, signal }: AttemptOptions,
): Promise<DeliveryReceipt> {
  using limit = deadline(clock, channel.attemptMs, signal);
  using patience = abortLater(clock, limit.signal);
  try {
    return await orAbort(channel.send(message, recipient, limit.signal), patience.signal);
  } catch (error) {
    log.error({ err: error, message: message.id, recipient }, `the channel ${channel.name} failed`);
    return { kind: 'retry', reason: messageOf(error) };
  }
}

// A channel that was cancelled knows best how far it got, so it may still report; one that does not end is abandoned.
function abortLater(clock: Clock, signal: AbortSignal): Disposable & { readonly signal: AbortSignal } {
  const controller = new AbortController();
  let timer: Disposable | null = null;
  const onAbort = () => {
    timer = clock.after(graceMs, () => controller.abort(new DeadlineError(graceMs)));
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  return {
    signal: controller.signal,
    [Symbol.dispose]() {
      signal.removeEventListener('abort', onAbort);
      timer?.[Symbol.dispose]();
    },
  };
}
