import { existsSync, readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { z } from 'zod';
import type { CheckRunnerEnvironment } from '#compose/checking.ts';
import { openChannels, othersOf, policiesOf } from '#compose/delivery.ts';
import type { PushDevices } from '#channels/index.ts';
import type { Config } from '#config/config.ts';
import { sleep } from '#kernel/clock.ts';
import { createInTurn } from '#kernel/concurrency.ts';
import { messageOf } from '#kernel/errors.ts';
import { privateMode } from '#kernel/private-files.ts';
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

// Only the leader writes to the database, so there is nothing of this hub in it.
const nothingStored: UnstoredOptions['store'] = {
  dueDeliveries: () => [],
  nextDeliveryAt: () => null,
  claim: () => undefined,
  storeOutcomes: () => {},
  sentMessages: () => [],
  notifiedAndOpen: () => [],
  listDeliveries: () => [],
};

/** A notice of this hub that was sent and whose end is still to be notified. */
const SentNotice = z.object({
  since: z.number(),
  incident: z.custom<Incident>((value) => Named.safeParse(value).success),
});
const Named = z.looseObject({ id: z.string(), target: z.literal(ownLeader), startedAt: z.number() });

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
  const unstored = createUnstored({ store: nothingStored, log });
  const own = createOwnIncidents({
    open: before === null ? [] : [before.incident],
    recipients: () => mergeRecipients(config().targets.flatMap(({ recipients }) => recipients)),
    heldBy: () => null,
  });
  const opened = new AsyncDisposableStack();
  const closing = new AbortController();
  const inTurn = createInTurn();
  let outbox: ReturnType<typeof createOutbox> | null = null;

  function open() {
    const channels = openChannels(config(), config, { ...environment, devices: devices() });
    for (const channel of channels) opened.defer(async () => channel.close());
    const sending = createOutbox({
      store: unstored,
      channels,
      clock,
      random,
      log,
      policyOf: policiesOf(config),
      othersOf: (address) => othersOf(config(), address),
      linkTo: () => null,
      identity: identity(),
    });
    opened.defer(async () => sending.stop());
    sending.start();
    return sending;
  }

  // Until a notice is sent, a restart sends it anew.
  async function keepOnceSent({ incidents: [incident] }: Pick<RoundRecord, 'incidents'>): Promise<void> {
    if (incident === undefined) return;
    const isPending = () =>
      unstored.deliveriesOf(incident.id).some(({ kind, state }) => kind !== 'reminder' && state === 'pending');
    while (isPending()) await sleep(clock, lookEveryMs, closing.signal);
    if (incident.endedAt !== null) return rm(path, { force: true });
    const notice: z.input<typeof SentNotice> = { since: incident.startedAt, incident };
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
      outbox ??= open();
      outbox.wake();
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
