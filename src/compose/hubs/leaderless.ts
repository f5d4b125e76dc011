import { existsSync, readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { z } from 'zod';
import type { CheckRunnerEnvironment } from '#compose/checking.ts';
import { openReloadableChannels, othersOf, policiesOf } from '#compose/delivery.ts';
import type { PushDevices } from '#channels/index.ts';
import type { Config } from '#config/config.ts';
import { sleep } from '#kernel/clock.ts';
import { createInTurn } from '#kernel/concurrency.ts';
import { messageOf } from '#kernel/errors.ts';
import { privateMode } from '#kernel/private-files.ts';
import type { ListedDelivery } from '#monitor/judge/delivery.ts';
import { type Incident, ownLeader } from '#monitor/judge/incident.ts';
import type { RoundRecord } from '#monitor/judge/round-record.ts';
import { mergeRecipients } from '#monitor/judge/recipient.ts';
import { createOutbox } from '#monitor/notify/outbox.ts';
import { createUnstored, type UnstoredOptions } from '#monitor/notify/unstored.ts';
import { createOwnIncidents } from '#monitor/suppress/own-incidents.ts';

export interface LeaderlessNotices extends AsyncDisposable {
  /** Since when none led by the notice that an earlier process of this hub sent, and whose end is not notified; or null. */
  readonly sentSince: number | null;
  /** Notifies that this hub sees no leader since `since`, or, without a reason, that it sees one again. */
  report(reason: string | null, since: number): void;
}

/** A notice of this hub that was sent and whose end is still to be notified. */
const SentNotice = z.object({
  since: z.number(),
  incident: z.custom<Incident>((value) => Named.safeParse(value).success),
  /** Its deliveries that were sent: their recipients hear of its end. A file of an earlier version does not say. */
  beginnings: z.array(z.custom<ListedDelivery>((value) => SentBeginning.safeParse(value).success)).default([]),
});
const Named = z.looseObject({ id: z.string(), target: z.literal(ownLeader), startedAt: z.number() });
const SentBeginning = z.looseObject({ channel: z.string(), recipient: z.string(), message: z.string() });

// Only the leader writes to the database, so there is nothing of this hub in it.
function storedBefore(notice: z.output<typeof SentNotice> | null): UnstoredOptions['store'] {
  return {
    dueDeliveries: () => [],
    nextDeliveryAt: () => null,
    claim: () => undefined,
    storeOutcomes: () => {},
    sentMessages: () => [],
    notifiedAndOpen: () => [],
    listDeliveries: ({ incident }) => (notice !== null && notice.incident.id === incident ? notice.beginnings : []),
  };
}

export interface LeaderlessOptions {
  readonly hub: string;
  /** Keeps a notice that was sent, beside the database: only the leader writes to that. */
  readonly path: string;
  readonly config: () => Config;
  readonly identity: () => string;
  readonly environment: CheckRunnerEnvironment;
  readonly devices: () => PushDevices | null;
}

const lookEveryMs = 500;

/** An outbox of this hub's own, for what it has to say while none leads. What was sent outlives a restart of this hub. */
export function openLeaderlessNotices(options: LeaderlessOptions): LeaderlessNotices {
  const { hub, path, config, identity, environment, devices } = options;
  const { clock, random, log } = environment;
  const before = readNotice(path, log);
  const unstored = createUnstored({ store: storedBefore(before), log });
  const own = createOwnIncidents({
    open: before === null ? [] : [before.incident],
    recipients: () => mergeRecipients(config().targets.flatMap(({ recipients }) => recipients)),
    heldBy: () => null,
  });
  const opened = new AsyncDisposableStack();
  const closing = new AbortController();
  const inTurn = createInTurn();
  let sending: ReturnType<typeof open> | null = null;

  function open() {
    const channels = openReloadableChannels(config(), config, { ...environment, devices: devices() });
    for (const channel of channels.list) opened.defer(async () => channel.close());
    const outbox = createOutbox({
      store: unstored,
      channels: channels.list,
      clock,
      random,
      log,
      policyOf: policiesOf(config),
      othersOf: (address) => othersOf(config(), address),
      linkTo: () => null,
      identity: identity(),
    });
    opened.defer(async () => outbox.stop());
    outbox.start();
    return { channels, outbox };
  }

  // Until a notice is sent, a restart sends it anew.
  async function keepOnceSent({ incidents: [incident] }: Pick<RoundRecord, 'incidents'>): Promise<void> {
    if (incident === undefined) return;
    const isPending = () =>
      unstored.deliveriesOf(incident.id).some(({ kind, state }) => kind !== 'reminder' && state === 'pending');
    while (isPending()) {
      await sleep(clock, lookEveryMs, closing.signal);
      // A reload may have been for this very message.
      sending?.channels.prepare(config())();
    }
    if (incident.endedAt !== null) return rm(path, { force: true });
    const known = unstored.deliveriesOf(incident.id);
    const beginnings = known.filter(({ kind, message }) => kind === 'opened' && message !== null);
    const notice: z.input<typeof SentNotice> = { since: incident.startedAt, incident, beginnings };
    await writeFile(path, JSON.stringify(notice), { mode: privateMode });
  }

  return {
    sentSince: before?.since ?? null,
    report(reason, since) {
      const now = clock.now();
      own.troubled({ name: ownLeader, which: hub, since, reason }, now);
      for (const record of own.review(now)) {
        unstored.add(record);
        inTurn(async () => keepOnceSent(record)).catch((error: unknown) => {
          if (!closing.signal.aborted) log.warn({ reason: messageOf(error) }, 'cannot keep what was notified');
        });
      }
      sending ??= open();
      sending.channels.prepare(config())();
      sending.outbox.wake();
    },
    async [Symbol.asyncDispose]() {
      closing.abort(new Error('this hub is stopping'));
      await opened.disposeAsync();
    },
  };
}

function readNotice(path: string, log: CheckRunnerEnvironment['log']): z.output<typeof SentNotice> | null {
  if (!existsSync(path)) return null;
  try {
    return SentNotice.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch (error) {
    log.warn({ path, reason: messageOf(error) }, 'cannot read what was notified; notifying anew');
    return null;
  }
}
