import { type Clock, clockJitterMs, sleepUnlessAborted, sleepUntil } from '#kernel/clock.ts';
import type { Log } from '#kernel/log.ts';
import type { Random } from '#kernel/random.ts';
import { dayMs } from '#kernel/units.ts';
import { createNextDue, type NextDue, type Schedule } from '#schedule/schedule.ts';
import { type BackgroundTask, untilStopped } from './until-stopped.ts';
import { attemptToSend } from './attempt.ts';
import { backoffMs } from './backoff.ts';
import type { Channel, Message } from './channel.ts';
import { messageName } from './compose-message.ts';
import { summaryContent } from './content-of-summary.ts';
import type { QueueAddress } from './recipient-queues.ts';
import { createRooms, type ConcurrencyLimit } from './rooms.ts';
import type { SummaryFacts, SummaryStore } from './summary-facts.ts';

export interface SummaryOptions {
  readonly store: SummaryStore;
  readonly channels: readonly Channel[];
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly schedule: Schedule;
  /** Those of the configuration in force, whenever it is called. */
  readonly recipients: () => readonly (QueueAddress & { readonly zone: string })[];
  /** Distinguishes the messages of this installation from those of others. Default: none. */
  readonly identity?: string;
}

const name = 'summary';

/**
 * Sends everybody a summary of the time since the last one, whenever it is due. One that cannot be sent is tried again until
 * the next one is due; it is not stored, so a restart in between loses it.
 */
export function startSummary(options: SummaryOptions): SummaryTask {
  const finishing = new AbortController();
  const task = untilStopped('the summary', async (signal) =>
    summarise(options, { signal, coming: AbortSignal.any([signal, finishing.signal]) }),
  );
  return {
    ...task,
    async finish() {
      finishing.abort(new Error('the summary is due at other times'));
      await task.ended;
    },
  };
}

export interface SummaryTask extends BackgroundTask {
  /** No further one becomes due. Those that wait are delivered; resolves when none waits. */
  finish(): Promise<void>;
}

interface SummarySignals {
  /** Aborted to end everything. */
  readonly signal: AbortSignal;
  /** Aborted if no further summary is to be sent. */
  readonly coming: AbortSignal;
}

async function summarise(options: SummaryOptions, { signal, coming }: SummarySignals): Promise<void> {
  const { clock } = options;
  const next = createNextDue(options.schedule, name);
  // A recipient that does not take one until the next is due holds up no other.
  const underWay = new Set<Promise<void>>();
  let last = Number.NEGATIVE_INFINITY;
  while (!coming.aborted) {
    const now = clock.now();
    // A clock that was set back by more than its jitter begins anew.
    const dueAt = next(now >= last - clockJitterMs ? Math.max(now, last) : now);
    if (dueAt === null) break;
    if (!(await arrives(clock, dueAt, coming)) || signal.aborted) continue;
    const following = next(dueAt);
    // Several passed while the machine was asleep: they are not made up for.
    if (following !== null && following <= clock.now()) continue;
    last = dueAt;
    const messages = await compose(options, dueBefore(next, dueAt), dueAt);
    const sending = deliverAll(messages, options, { rooms: createRooms(clock), untilAt: following ?? dueAt, signal });
    underWay.add(sending);
    void sending.finally(() => underWay.delete(sending));
  }
  await Promise.all(underWay);
}

async function arrives(clock: Clock, at: number, signal: AbortSignal): Promise<boolean> {
  try {
    return await sleepUntil(clock, at, signal);
  } catch (error) {
    // It may have become due although this thread could not come to it yet.
    if (signal.aborted) return clock.now() >= at;
    throw error;
  }
}

interface AddressedMessage extends QueueAddress {
  readonly message: Message;
}

// Patterns such as MON-FRI have stretches of several lengths: a summary goes back to the one before, whichever day that was.
function dueBefore(next: NextDue, dueAt: number): number {
  for (const days of [2, 8, 35, 400]) {
    let last: number | null = null;
    for (let due = next(dueAt - days * dayMs); due !== null && due < dueAt; due = next(due)) last = due;
    if (last !== null) return last;
  }
  return dueAt - dayMs;
}

async function compose(
  { store, recipients, log, identity }: SummaryOptions,
  from: number,
  to: number,
): Promise<readonly AddressedMessage[]> {
  try {
    const facts = await store.summarise(from, to);
    return recipients().map(({ zone, ...address }) => ({
      ...address,
      message: summaryMessage(facts, zone, address, identity),
    }));
  } catch (error) {
    log.error({ err: error }, 'cannot compose the summary');
    return [];
  }
}

/** The message of a summary to a recipient; a repeat has the same id. */
export function summaryMessage(
  facts: SummaryFacts,
  zone: string,
  { recipient }: Pick<QueueAddress, 'recipient'>,
  identity = '',
): Message {
  const id = messageName(identity, [name, facts.to, recipient]);
  return {
    kind: name,
    incidents: [],
    id,
    references: [],
    beginnings: new Map(),
    links: new Map(),
    content: summaryContent(facts, zone),
    at: facts.to,
  };
}

interface DeliveryContext {
  readonly rooms: ConcurrencyLimit;
  readonly untilAt: number;
  readonly signal: AbortSignal;
}

async function deliverAll(
  messages: readonly AddressedMessage[],
  options: SummaryOptions,
  context: DeliveryContext,
): Promise<void> {
  await Promise.all(messages.map(async (one) => deliver(one, options, context)));
}

async function deliver(
  { channel: channelName, recipient, message }: AddressedMessage,
  { channels, clock, random, log, recipients }: SummaryOptions,
  { rooms, untilAt, signal }: DeliveryContext,
): Promise<void> {
  const channel = channels.find((one) => one.name === channelName);
  const about = { channel: channelName, recipient, message: message.id };
  if (channel === undefined) return;
  const isRecipient = () => recipients().some((one) => one.channel === channelName && one.recipient === recipient);
  for (let attempts = 0; ; attempts += 1) {
    if (!isRecipient()) return log.warn(about, 'summary not delivered: this recipient gets none any more');
    const attempt = { clock, log, signal };
    const receipt = await rooms.inside(async () =>
      signal.aborted ? null : attemptToSend(channel, message, recipient, attempt),
    );
    if (receipt === null) return;
    if (receipt.kind === 'delivered') return log.info({ ...about, response: receipt.response }, 'summary delivered');
    const waitMs = backoffMs(attempts, random, receipt.kind === 'retry' ? receipt.afterMs : undefined);
    const isOver = receipt.kind === 'rejected' || clock.now() + waitMs >= untilAt;
    log.warn(about, `the summary was not delivered${isOver ? '' : ' yet'}: ${receipt.reason}`);
    if (isOver || !(await sleepUnlessAborted(clock, waitMs, signal))) return;
  }
}
