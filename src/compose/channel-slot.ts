import { type Clock, endsWithin } from '#kernel/clock.ts';
import type { Log } from '#kernel/log.ts';
import type { Channel } from '#monitor/notify/channel.ts';

/** A channel that can be exchanged for another of its type while it is used. */
export interface ChannelSlot {
  /** To close it also closes what was exchanged and is still used. It resolves within a deadline, and never rejects. */
  readonly channel: Channel;
  /** Has everything from now on go over the next channel. The one before is closed once nothing is under way over it. */
  replace(next: Channel): void;
}

export interface ChannelSlotOptions {
  readonly clock: Clock;
  readonly log: Log;
}

interface UsedChannel {
  readonly channel: Channel;
  underWay: number;
}

const closeMs = 10_000;
// What is cancelled by its own deadline may take this much longer.
const graceMs = 10_000;

/** What is under way ends over the channel that it began with. */
export function createSlot(first: Channel, { clock, log }: ChannelSlotOptions): ChannelSlot {
  let current: UsedChannel = { channel: first, underWay: 0 };
  /** Those that were exchanged while something was under way over them, with the timers that end that. */
  const replaced = new Map<UsedChannel, Disposable>();

  async function closeInTime(channel: Channel): Promise<void> {
    const about = { channel: channel.name };
    try {
      if (!(await endsWithin(channel.close(), clock, closeMs))) log.warn(about, 'a channel did not close in time');
    } catch (error) {
      log.warn({ ...about, err: error }, 'cannot close a channel');
    }
  }

  async function closeReplaced(used: UsedChannel): Promise<void> {
    replaced.get(used)?.[Symbol.dispose]();
    replaced.delete(used);
    await closeInTime(used.channel);
  }

  async function over<Result>(use: (channel: Channel) => Promise<Result>): Promise<Result> {
    const used = current;
    used.underWay += 1;
    try {
      return await use(used.channel);
    } finally {
      used.underWay -= 1;
      if (replaced.has(used) && used.underWay === 0) void closeReplaced(used);
    }
  }

  const channel: Channel = {
    name: first.name,
    attemptMs: first.attemptMs,
    send: async (...message) => over(async (one) => one.send(...message)),
    // Whether a channel renews is a matter of its type, which stays the same.
    renew: first.renew === null ? null : async (...open) => over(async (one) => one.renew?.(...open) ?? notRenewed),
    async close() {
      await Promise.all([closeInTime(current.channel), ...[...replaced.keys()].map(closeReplaced)]);
    },
  };
  return {
    channel,
    replace(next) {
      const before = current;
      current = { channel: next, underWay: 0 };
      if (before.underWay === 0) return void closeInTime(before.channel);
      const { name, attemptMs } = before.channel;
      const timer = clock.after(attemptMs + graceMs, () => {
        log.warn({ channel: name }, 'a message over a replaced channel does not end; closing');
        void closeReplaced(before);
      });
      replaced.set(before, timer);
    },
  };
}

const notRenewed = { kind: 'rejected', reason: 'this channel does not renew' } as const;
