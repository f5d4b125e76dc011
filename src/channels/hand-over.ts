import type { Clock } from '#kernel/clock.ts';
import type { DeliveryReceipt } from '#monitor/notify/channel.ts';

/** How far one of several attempts came with handing over a message. */
export interface Handover {
  /** To be called when the server asks for the message. Throws if another attempt is handing it over. */
  begin(): void;
  /** To be called when all of it was written: the server may have accepted it from then on. */
  end(): void;
  readonly isWhole: boolean;
}

export interface HandOverOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** How long an attempt may take to be asked for the message before another one begins beside it, in milliseconds. */
  readonly otherMs: number;
  /** One attempt. Never rejects; ends soon after its signal is aborted. The first one has the number 0. */
  readonly attempt: (number: number, handover: Handover, signal: AbortSignal) => Promise<DeliveryReceipt>;
}

/**
 * Hands a message over once, to a server that may be slow. The first attempt has all the time that the protocol gives the
 * server. Until the server asks for the message, another attempt runs beside it, replaced every `otherMs`: a server that was
 * away takes the message soon after it is back. The first attempt that is asked for the message goes on alone, so that the
 * server never gets two copies.
 */
export async function handOverOnce({ clock, signal, otherMs, attempt }: HandOverOptions): Promise<DeliveryReceipt> {
  const decided = Promise.withResolvers<DeliveryReceipt>();
  const running = new Map<number, { readonly abort: AbortController; readonly ended: Promise<void> }>();
  let owner: number | null = null;
  let count = 0;
  using others = new DisposableStack();

  const stopAllBut = (number: number | null) => {
    for (const [one, { abort }] of running) if (one !== number) abort.abort(new Error(superseded));
  };

  function handoverOf(number: number): Handover {
    let isWhole = false;
    return {
      begin() {
        if (owner !== null && owner !== number) throw new Error(superseded);
        owner = number;
        stopAllBut(number);
      },
      end: () => void (isWhole = true),
      get isWhole() {
        return isWhole;
      },
    };
  }

  function start(): void {
    const number = count;
    count += 1;
    const abort = new AbortController();
    const run = async () => {
      const receipt = await attempt(number, handoverOf(number), AbortSignal.any([signal, abort.signal]));
      running.delete(number);
      // What another attempt could not do for now says nothing: the first one still waits, or another one has the message.
      const counts = receipt.kind !== 'retry' || owner === number || (owner === null && number === 0);
      if (counts) decided.resolve(receipt);
    };
    running.set(number, { abort, ended: run().catch((error: unknown) => decided.reject(error)) });
  }

  function startAnother(): void {
    const timer = clock.after(otherMs, () => {
      if (owner !== null || signal.aborted) return;
      stopAllBut(0);
      start();
      startAnother();
    });
    others.use(timer);
  }

  start();
  startAnother();
  try {
    return await decided.promise;
  } finally {
    const left = [...running.values()].map(({ ended }) => ended);
    stopAllBut(null);
    await Promise.all(left);
  }
}

const superseded = 'another connection is delivering this message';
