import type { Clock } from '#kernel/clock.ts';
import { askedWaitMs } from './backoff.ts';
import type { RequestedPause } from './next-message.ts';
import { keyOf, type QueueAddress } from './recipient-queues.ts';

/** The recipients whose other side asked not to be called for a time: nothing goes to them meanwhile, however it became due. */
export interface RequestedPauses {
  /** The other side asked not to be called for so many milliseconds. */
  begin(address: QueueAddress, askedMs: number): void;
  /** They lead to another side by now, which asked for nothing. */
  end(addresses: readonly QueueAddress[]): void;
  readonly of: (address: QueueAddress) => RequestedPause | undefined;
}

/** The same moments by two clocks: the wall clock may be set, and the monotonic one stands still while the machine sleeps. */
interface TimedPause {
  readonly byWall: RequestedPause;
  readonly byElapsed: RequestedPause;
}

export function createRequestedPauses(clock: Clock): RequestedPauses {
  const pauses = new Map<string, TimedPause>();

  // By the clock that has come further.
  function remaining({ byWall, byElapsed }: TimedPause): RequestedPause {
    const wallAhead = clock.now() - clock.elapsed();
    return {
      until: Math.min(byWall.until, byElapsed.until + wallAhead),
      urgentUntil: Math.min(byWall.urgentUntil, byElapsed.urgentUntil + wallAhead),
    };
  }

  function of(address: QueueAddress): RequestedPause | undefined {
    const pause = pauses.get(keyOf(address));
    if (pause === undefined) return undefined;
    const left = remaining(pause);
    if (left.until > clock.now()) return left;
    pauses.delete(keyOf(address));
    return undefined;
  }

  return {
    begin(address, askedMs) {
      const known = of(address);
      const now = clock.now();
      const wallAhead = now - clock.elapsed();
      const until = Math.max(known?.until ?? now, now + askedWaitMs(askedMs, false));
      const urgentUntil = Math.max(known?.urgentUntil ?? now, now + askedWaitMs(askedMs, true));
      pauses.set(keyOf(address), {
        byWall: { until, urgentUntil },
        byElapsed: { until: until - wallAhead, urgentUntil: urgentUntil - wallAhead },
      });
    },
    end(addresses) {
      for (const one of addresses) pauses.delete(keyOf(one));
    },
    of,
  };
}
