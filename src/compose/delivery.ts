import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { createSlot } from '#compose/channel-slot.ts';
import { createFormerContacts } from '#compose/former-contacts.ts';
import { createReplaceablePart } from '#compose/replaceable-part.ts';
import { type AnyChannelType, channelTypes, ping, policyOf, type PushDevices } from '#channels/index.ts';
import type { Config } from '#config/config.ts';
import { isSame } from '#config/apply/same.ts';
import type { Clock } from '#kernel/clock.ts';
import type { Log } from '#kernel/log.ts';
import { onceFor } from '#kernel/once-for.ts';
import type { Random } from '#kernel/random.ts';
import type { Incident } from '#monitor/judge/incident.ts';
import { mergeRecipients } from '#monitor/judge/recipient.ts';
import type { MonitorStore } from '#monitor/store.ts';
import { type Channel, type RenewalTimes, renewalTimes } from '#monitor/notify/channel.ts';
import { type DeliveryPolicy, plainPolicy } from '#monitor/notify/delivery-policy.ts';
import { startHeartbeat } from '#monitor/notify/heartbeat.ts';
import type { Outbox } from '#monitor/notify/outbox.ts';
import type { QueueAddress } from '#monitor/notify/recipient-queues.ts';
import { startRenewal } from '#monitor/notify/renewal.ts';
import type { SummaryStore } from '#monitor/notify/summary-facts.ts';
import { startSummary } from '#monitor/notify/summary.ts';

// The part of compose.ts that commands without a daemon need as well.

export interface DeliveryEnvironment {
  readonly clock: Clock;
  readonly log: Log;
  /** Default: `renewalTimes`. */
  readonly renewal?: RenewalTimes | undefined;
  /** The devices of the channel `push`; null if none was ever added. */
  readonly devices: PushDevices | null;
}

/**
 * Opens every channel, or those of some types; whom they reach is what the configuration in force says at the time. Throws `config_invalid` where the
 * template of mails cannot be used.
 */
export function openChannels(
  config: Config,
  inForce: () => Pick<Config, 'contacts'>,
  environment: DeliveryEnvironment,
  isOpened: (type: AnyChannelType) => boolean = () => true,
): readonly Channel[] {
  const shared = {
    ...environment,
    folder: dirname(config.data),
    hostname: hostname(),
    renewal: environment.renewal ?? renewalTimes,
  };
  return channelTypes
    .filter(isOpened)
    .map((type) => type.open(shared, () => inForce().contacts[type.name] ?? [], config.sections));
}

/** Channels whose own sections of the configuration can change while they are used. */
export interface ReloadableChannels {
  readonly list: readonly Channel[];
  /** The contacts of a configuration as the channels know them: those that had another name before have it as well. */
  contactsOf(config: Pick<Config, 'contacts'>): Config['contacts'];
  /** Opens anew those whose sections differ. Throws `config_invalid`, and then nothing has changed. Gives what puts them into force. */
  prepare(next: Config): () => void;
}

export function openReloadableChannels(
  config: Config,
  inForce: () => Config,
  environment: DeliveryEnvironment,
): ReloadableChannels {
  const former = createFormerContacts();
  const known = () => ({ contacts: former.with(inForce().contacts) });
  const slots = openChannels(config, known, environment).map((channel) => createSlot(channel, environment));
  let opened = config;
  return {
    list: slots.map(({ channel }) => channel),
    contactsOf: ({ contacts }) => former.with(contacts),
    prepare(next) {
      const { contacts } = inForce();
      const changed = slots.filter(
        ({ channel: { name } }) => !isSame(sectionsOf(name, opened), sectionsOf(name, next)),
      );
      if (changed.length === 0) return () => former.note(contacts);
      const names = changed.map(({ channel: { name } }) => name);
      const fresh = openChannels(next, known, environment, ({ name }) => names.includes(name));
      return () => {
        former.note(contacts);
        opened = next;
        for (const channel of fresh) changed.find((one) => one.channel.name === channel.name)?.replace(channel);
      };
    },
  };
}

function sectionsOf(name: string, { sections }: Config): readonly unknown[] {
  const type = channelTypes.find((one) => one.name === name);
  const values = new Map<string, unknown>(Object.entries(sections));
  return Object.keys(type?.sections ?? {}).map((key) => values.get(key));
}

/** The addresses of `next` that led to another server, or to nothing, by the configuration before. */
export function readdressedBy(before: Config, next: Config): readonly QueueAddress[] {
  return channelTypes.flatMap((type) => {
    const { name: channel } = type;
    const isSameChannel = isSame(sectionsOf(channel, before), sectionsOf(channel, next));
    const known = new Map((before.contacts[channel] ?? []).map((contact) => [contact.notify, contact]));
    return (next.contacts[channel] ?? []).flatMap((contact) =>
      type
        .recipientsOf(contact)
        // A recipient that is an address itself always leads to the same.
        .filter(
          (recipient) => !isSameChannel || (recipient === contact.notify && !isSame(known.get(recipient), contact)),
        )
        .map((recipient) => ({ channel, recipient })),
    );
  });
}

/**
 * The policy of each recipient: that of the first entry under `notify` that names it. When it is notified of an incident is up to the
 * entry by which the target names it.
 */
export function policiesOf(
  inForce: () => Pick<Config, 'notify' | 'targets'>,
): (address: QueueAddress) => DeliveryPolicy {
  const known = new WeakMap<Config['notify'], ReadonlyMap<string, DeliveryPolicy>>();
  return (address) => {
    const { notify } = inForce();
    const policies = known.get(notify) ?? policiesByAddress(notify, () => inForce().targets);
    known.set(notify, policies);
    return policies.get(keyOf(address)) ?? policyOf(address.channel, plainPolicy);
  };
}

/** The other addresses of the entries under `notify` that name an address: other ways to the same people. */
export function othersOf(
  { notify }: { readonly notify: readonly Pick<Config['notify'][number], 'addresses'>[] },
  address: QueueAddress,
): readonly QueueAddress[] {
  const own = notify.filter(({ addresses }) => addresses.some((one) => keyOf(one) === keyOf(address)));
  return own.flatMap(({ addresses }) => addresses).filter((one) => keyOf(one) !== keyOf(address));
}

function policiesByAddress(
  notify: Config['notify'],
  targets: () => Config['targets'],
): ReadonlyMap<string, DeliveryPolicy> {
  const entries = notify.flatMap(({ name, addresses, policy }) =>
    addresses.map((one) => ({ name, key: keyOf(one), policy: policyOf(one.channel, policy) })),
  );
  return new Map(
    [...Map.groupBy(entries, ({ key }) => key)].flatMap(([key, own]) => {
      const [first] = own;
      if (first === undefined) return [];
      if (own.length === 1) return [[key, first.policy]];
      const timingFor = (target: string) => {
        const name = entryOf(targets(), target, key);
        return (own.find((one) => one.name === name) ?? first).policy;
      };
      return [[key, { ...first.policy, timingFor }]];
    }),
  );
}

// An incident of our own goes to the recipients of all targets.
function entryOf(targets: Config['targets'], target: string, key: string): string | null {
  const { byTarget, ofAny } = entriesOf(targets);
  const recipients = byTarget.get(target);
  if (recipients === undefined) return ofAny.get(key) ?? null;
  return recipients.find((one) => keyOf(one) === key)?.notify ?? null;
}

const entriesOf = onceFor((targets: Config['targets']) => ({
  byTarget: new Map(targets.map(({ name, recipients }) => [name, recipients])),
  ofAny: new Map(
    mergeRecipients(targets.flatMap(({ recipients }) => recipients)).map((one) => [keyOf(one), one.notify]),
  ),
}));

const keyOf = ({ channel, recipient }: QueueAddress) => `${channel} ${recipient}`;

export interface WatchingOver extends Omit<DeliveryEnvironment, 'devices'> {
  readonly random: Random;
  readonly identity: string;
  readonly store: Pick<MonitorStore, 'notifiedAndOpen'>;
  /** What summaries are made of. */
  readonly summaries: SummaryStore;
  readonly outbox: Pick<Outbox, 'refusedMs'>;
  readonly channels: readonly Channel[];
  /** The page of an incident, where incidents have pages. */
  readonly linkTo: (incident: Incident) => string | null;
  /** The parts that have to make progress. */
  readonly pulses: readonly { readonly name: string; readonly ageMs: () => number; readonly limitMs: number }[];
}

const longestRefusalMs = 15 * 60_000;

/** What renews alerts, and the dead man's switch and the summary if the configuration has them. */
export interface PeriodicJobs {
  /** Goes on as another configuration says. A summary that waits is delivered unless its recipient gets none any more. */
  update(next: Config): void;
  stop(): Promise<void>;
}

export function startPeriodicJobs(config: Config, environment: WatchingOver): PeriodicJobs {
  const { store, clock, log, pulses, outbox, channels, linkTo, renewal: times = renewalTimes } = environment;
  let inForce = config;
  const stuck = () =>
    pulses.filter(({ ageMs, limitMs }) => ageMs() >= limitMs).map(({ name }) => `no progress: ${name}`);
  const undelivered = () => (outbox.refusedMs() < longestRefusalMs ? [] : ['nothing can be delivered']);
  const renewal = startRenewal({ store, channels, linkTo, times, clock, log });
  const heartbeat = createReplaceablePart(config.heartbeat, ({ url, everyMs }) =>
    startHeartbeat({
      clock,
      log,
      everyMs,
      troubles: () => [...stuck(), ...undelivered()],
      call: async (signal) => ping(url.reveal(), signal),
    }),
  );
  const summary = createReplaceablePart(config.summary?.schedule, (schedule) =>
    startSummary({
      ...environment,
      store: environment.summaries,
      channels,
      schedule,
      recipients: () => readersOf(inForce),
    }),
  );
  return {
    update(next) {
      inForce = next;
      heartbeat.update(next.heartbeat);
      summary.update(next.summary?.schedule);
    },
    async stop() {
      await Promise.all([renewal, heartbeat, summary].map(async (one) => one.stop()));
    },
  };
}

// One that is under two of the names gets one summary.
function readersOf({ notify, summary }: Config) {
  const readers = notify.filter(({ name }) => summary?.notify.includes(name) === true);
  const all = readers.flatMap(({ addresses, policy: { zone } }) => addresses.map((address) => ({ ...address, zone })));
  return [...Map.groupBy(all, keyOf).values()].flatMap(([first]) => first ?? []);
}
