import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { channelTypes, ping, policyOf } from '#channels/index.ts';
import type { Config } from '#config/config.ts';
import type { Clock } from '#kernel/clock.ts';
import type { Log } from '#kernel/log.ts';
import type { Random } from '#kernel/random.ts';
import type { MonitorStore } from '#monitor/store.ts';
import type { Channel } from '#monitor/tell/channel.ts';
import { type DeliveryPolicy, plainPolicy } from '#monitor/tell/delivery-policy.ts';
import { startHeartbeat } from '#monitor/tell/heartbeat.ts';
import type { Outbox } from '#monitor/tell/outbox.ts';
import type { Address } from '#monitor/tell/recipient-queues.ts';
import { startRenewal } from '#monitor/tell/renewal.ts';
import { startSummary } from '#monitor/tell/summary.ts';

// The part of compose.ts that commands without a daemon need as well.

export interface ChannelsEnvironment {
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Opens every channel; whom they reach is what the configuration in force says at the time. Throws `config_invalid` where the
 * template of mails cannot be used.
 */
export function openChannels(
  config: Config,
  inForce: () => Config,
  environment: ChannelsEnvironment,
): readonly Channel[] {
  const shared = {
    ...environment,
    folder: dirname(config.data),
    hostname: hostname(),
  };
  return channelTypes.map((type) => type.open(shared, () => inForce().contacts[type.name] ?? [], config.sections));
}

/** How each recipient wants to be told: as the first entry under `notify` says that names them. */
export function policiesOf(inForce: () => Pick<Config, 'notify'>): (address: Address) => DeliveryPolicy {
  const known = new WeakMap<Config['notify'], ReadonlyMap<string, DeliveryPolicy>>();
  return (address) => {
    const { notify } = inForce();
    const policies = known.get(notify) ?? policiesByAddress(notify);
    known.set(notify, policies);
    return policies.get(keyOf(address)) ?? plainPolicy;
  };
}

function policiesByAddress(notify: Config['notify']): ReadonlyMap<string, DeliveryPolicy> {
  const entries = notify.flatMap(({ addresses, policy }) =>
    addresses.map((one) => [keyOf(one), policyOf(one.channel, policy)] as const),
  );
  return new Map(entries.toReversed());
}

const keyOf = ({ channel, recipient }: Address) => `${channel} ${recipient}`;

export interface WatchingOver extends ChannelsEnvironment {
  readonly random: Random;
  readonly identity: string;
  readonly store: Pick<MonitorStore, 'summarise' | 'toldAndOpen'>;
  readonly outbox: Pick<Outbox, 'refusedMs'>;
  readonly channels: readonly Channel[];
  /** The parts that have to make progress. */
  readonly pulses: readonly { readonly name: string; readonly ageMs: () => number; readonly limitMs: number }[];
}

const longestRefusalMs = 15 * 60_000;

/** Starts what renews alerts, and the dead man's switch and the summary where the configuration has them. Gives what ends them. */
export function startRegulars(config: Config, environment: WatchingOver): () => Promise<void> {
  const { store, clock, log, pulses, outbox, channels } = environment;
  const { heartbeat, summary } = config;
  const stuck = () =>
    pulses.filter(({ ageMs, limitMs }) => ageMs() >= limitMs).map(({ name }) => `no progress: ${name}`);
  const undelivered = () => (outbox.refusedMs() < longestRefusalMs ? [] : ['nothing can be delivered']);
  const running = [
    startRenewal({ store, channels, clock, log }),
    heartbeat === null
      ? null
      : startHeartbeat({
          clock,
          log,
          everyMs: heartbeat.everyMs,
          troubles: () => [...stuck(), ...undelivered()],
          call: async (signal) => ping(heartbeat.url.reveal(), signal),
        }),
    summary === null
      ? null
      : startSummary({
          ...environment,
          channels,
          schedule: summary.schedule,
          recipients: readersOf(config, summary.notify),
        }),
  ];
  return async () => {
    await Promise.all(running.map(async (one) => one?.stop()));
  };
}

function readersOf({ notify }: Config, names: readonly string[]) {
  const readers = notify.filter(({ name }) => names.includes(name));
  return readers.flatMap(({ addresses, policy: { zone } }) => addresses.map((address) => ({ ...address, zone })));
}
