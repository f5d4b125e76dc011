import type { NatsConnection } from '@nats-io/transport-node';
import { z } from 'zod';
import { writesOf } from '#hubs/backlog.ts';
import { sendLate } from '#hubs/peers.ts';
import type { LateVote } from '#monitor/judge/round-record.ts';
import { SharedWrites } from '#store/shared-store.ts';
import type { Store } from '#store/sqlite.ts';

type SentVote = Omit<LateVote, 'verdictOf' | 'at'>;

// Some hundred bytes each: together they are shorter than a server takes.
const sentAtOnce = 40;

/** Hands what this hub saw while it was alone to the hub that leads: it changes no state there. Gives how many votes there were. */
export async function handInLate(
  connection: NatsConnection,
  leader: string,
  backlog: readonly Uint8Array[],
): Promise<number> {
  const votes = SharedWrites.parse(writesOf(backlog)).flatMap((write): readonly SentVote[] => {
    if (write.kind !== 'round') return [];
    const { target, dueAt } = write.round;
    const seen = write.round.votes.filter(({ outcome }) => outcome.status !== 'unknown');
    return seen.map((vote) => ({ target, dueAt, vote }));
  });
  for (let from = 0; from < votes.length; from += sentAtOnce)
    await sendLate(connection, leader, votes.slice(from, from + sentAtOnce));
  return votes.length;
}

const SentVotes = z.array(z.custom<SentVote>((value) => Named.safeParse(value).success));
const Named = z.looseObject({ target: z.string(), dueAt: z.number(), vote: z.looseObject({}) });

/** Stores what another hub handed in. */
export async function takeLate(store: Pick<Store, 'recordLate'>, sent: readonly unknown[], at: number): Promise<void> {
  await Promise.all(SentVotes.parse(sent).map(async (vote) => store.recordLate({ ...vote, at })));
}
