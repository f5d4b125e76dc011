import { type Clock, deadline, orAbort, sleepUnlessAborted } from '#kernel/clock.ts';
import { messageOf } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import { type BackgroundTask, untilStopped } from './until-stopped.ts';
import type { Incident } from '../judge/incident.ts';
import { type Channel, type DeliveryReceipt, type RenewalTimes, renewalTimes } from './channel.ts';
import type { DeliveryStore } from './delivery-store.ts';

export interface RenewalOptions {
  readonly store: Pick<DeliveryStore, 'notifiedAndOpen'>;
  readonly channels: readonly Channel[];
  readonly clock: Clock;
  readonly log: Log;
  /** The page of an incident, where incidents have pages. */
  readonly linkTo: (incident: Incident) => string | null;
  readonly times?: RenewalTimes;
}

// Other recipients of the channel wait meanwhile, no longer than this.
const attemptMs = 10_000;

/**
 * Tells each minute, through channels whose other side forgets, what goes on still; from the start on, so that a restart ends
 * nothing there. What fails is tried again in the next minute.
 */
export function startRenewal(options: RenewalOptions): BackgroundTask {
  return untilStopped('the renewal', async (signal) => renewAll(options, signal));
}

async function renewAll(
  { channels, times = renewalTimes, ...parts }: RenewalOptions,
  signal: AbortSignal,
): Promise<void> {
  const failing = new Set<string>();
  const renewing = channels.filter(({ renew }) => renew !== null);
  if (renewing.length === 0) return;
  do {
    await Promise.all(renewing.map(async (channel) => renewChannel(channel, { ...parts, failing, signal })));
  } while (await sleepUnlessAborted(parts.clock, times.everyMs, signal));
}

interface RenewalContext extends Pick<RenewalOptions, 'store' | 'clock' | 'log' | 'linkTo'> {
  /** Those whose last renewal failed. */
  readonly failing: Set<string>;
  readonly signal: AbortSignal;
}

async function renewChannel(
  channel: Channel,
  { store, clock, log, linkTo, failing, signal }: RenewalContext,
): Promise<void> {
  const openAlerts = () => store.notifiedAndOpen(channel.name);
  const renewOne = async (recipient: string) => {
    const open = () =>
      openAlerts().flatMap(({ incident, ...one }) =>
        one.recipient === recipient ? [{ incident, link: linkTo(incident) }] : [],
      );
    using limit = deadline(clock, attemptMs, signal);
    const receipt = await catchRejection(async () =>
      channel.renew === null ? undefined : orAbort(channel.renew(open, recipient, limit.signal), limit.signal),
    );
    if (signal.aborted || receipt === undefined) return;
    const about = { channel: channel.name, recipient };
    const key = JSON.stringify(about);
    if (receipt.kind === 'delivered') {
      if (failing.delete(key)) log.info(about, 'open alerts are renewed again');
    } else if (!failing.has(key)) {
      failing.add(key);
      log.warn(about, `cannot renew open alerts, retrying every minute: ${receipt.reason}`);
    }
  };
  try {
    await Promise.all([...new Set(openAlerts().map(({ recipient }) => recipient))].map(renewOne));
  } catch (error) {
    log.error({ err: error, channel: channel.name }, 'cannot read open alerts to renew them');
  }
}

async function catchRejection(
  action: () => Promise<DeliveryReceipt | undefined>,
): Promise<DeliveryReceipt | undefined> {
  try {
    return await action();
  } catch (error) {
    return { kind: 'retry', reason: messageOf(error) };
  }
}
