import type { Log } from '#kernel/log.ts';
import type { Channel } from '#monitor/notify/channel.ts';

/** A channel that can be exchanged for another of its type while it is used. */
export interface ChannelSlot {
  readonly channel: Channel;
  /** Has everything from now on go over the next channel. The one before is closed once nothing is under way over it. */
  replace(next: Channel): void;
}

/** What is under way ends over the channel that it began with. */
export function createSlot(first: Channel, log: Log): ChannelSlot {
  let current = { channel: first, underWay: 0, isReplaced: false };

  const closeReplaced = (entry: typeof current) => {
    entry.channel.close().catch((error: unknown) => log.warn({ err: error }, 'a channel did not close in time'));
  };

  async function over<Result>(use: (channel: Channel) => Promise<Result>): Promise<Result> {
    const entry = current;
    entry.underWay += 1;
    try {
      return await use(entry.channel);
    } finally {
      entry.underWay -= 1;
      if (entry.isReplaced && entry.underWay === 0) closeReplaced(entry);
    }
  }

  const channel: Channel = {
    name: first.name,
    attemptMs: first.attemptMs,
    send: async (...message) => over(async (one) => one.send(...message)),
    // Whether a channel renews is a matter of its type, which stays the same.
    renew: first.renew === null ? null : async (...open) => over(async (one) => one.renew?.(...open) ?? notRenewed),
    close: async () => current.channel.close(),
  };
  return {
    channel,
    replace(next) {
      const before = current;
      current = { channel: next, underWay: 0, isReplaced: false };
      before.isReplaced = true;
      if (before.underWay === 0) closeReplaced(before);
    },
  };
}

const notRenewed = { kind: 'rejected', reason: 'this channel does not renew' } as const;
