import { type AnyChannelType, channelTypes, type Contact, type Section } from '#channels/index.ts';
import type { SecretFiles } from '#kernel/files.ts';
import type { Secret } from '#kernel/secret.ts';
import { mergeRecipients, type Recipient } from '#monitor/judge/recipient.ts';
import type { Severity } from '#monitor/judge/rule.ts';
import type { DeliveryPolicy } from '#monitor/notify/delivery-policy.ts';
import type { Schedule } from '#schedule/schedule.ts';
import type { LanguageFile } from '#languages/language.ts';
import type { LogoImage } from './shape/pages.ts';
import type { ConfigFile } from './shape/schema.ts';

export interface ConfiguredNotify {
  readonly name: string;
  /** All recipients behind this name. */
  readonly addresses: readonly { readonly channel: string; readonly recipient: string }[];
  readonly severities: readonly Severity[];
  /** Their delivery policy. */
  readonly policy: DeliveryPolicy;
}

/** The settings of a channel for its recipients, by the channel's name; nothing about an unused channel. */
export type Contacts = Readonly<Record<string, readonly Contact<unknown>[]>>;

/** Sections that are a channel's own, by their keys. */
export type Sections = Readonly<Record<string, Section>>;

/** When the summary is sent, and to whom. */
export interface ConfiguredSummary {
  readonly schedule: Schedule;
  readonly zone: string;
  /** Names under `notify`. */
  readonly notify: readonly string[];
}

/** What the files hold that the configuration names. */
export interface ReadFiles {
  /** By the path of the key: `smtp.password_file`. */
  readonly named: Readonly<Record<string, Secret>>;
  /** Hashes of tokens, by the name of their file as it is written. */
  readonly tokenHashes: ReadonlyMap<string, string>;
  /** Files with a secret that every user of the machine may read. */
  readonly exposed: readonly string[];
  /** Logos of status pages, by the name of the page. */
  readonly logos: ReadonlyMap<string, LogoImage>;
  /** Languages of status pages, by their codes. */
  readonly languages: Readonly<Record<string, LanguageFile>>;
}

export function resolveSections(file: ConfigFile, files: ReadFiles): Sections {
  const written = new Map<string, unknown>(Object.entries(file));
  const keys = channelTypes.flatMap(({ sections }) => Object.keys(sections));
  return Object.fromEntries(keys.map((key) => [key, { value: written.get(key), files: filesOf(files, key) }]));
}

export function resolveContacts({ notify }: Pick<ConfigFile, 'notify'>, files: ReadFiles): Contacts {
  const contacts = channelTypes.map(({ name: channel }) => {
    const own = Object.entries(notify).flatMap(([name, ways]): Contact<unknown>[] => {
      const entry = new Map<string, unknown>(Object.entries(ways)).get(channel);
      return entry === undefined ? [] : [{ notify: name, entry, files: filesOf(files, `notify.${name}.${channel}`) }];
    });
    return [channel, own] as const;
  });
  return Object.fromEntries(contacts.filter(([, own]) => own.length > 0));
}

function filesOf({ named }: ReadFiles, section: string): SecretFiles {
  return Object.fromEntries(
    Object.entries(named).flatMap(([path, text]) =>
      path.startsWith(`${section}.`) ? [[path.slice(section.length + 1), text]] : [],
    ),
  );
}

export function resolveNotify(
  name: string,
  entry: ConfigFile['notify'][string],
  contacts: Contacts,
  { defaults }: Pick<ConfigFile, 'defaults'>,
): ConfiguredNotify {
  const { grouped, group_wait: waitMs, group_interval: intervalMs, storm, remind, timezone, after, hours } = entry;
  const zone = timezone ?? defaults.timezone;
  return {
    name,
    addresses: channelTypes.flatMap((type) => addressesOf(type, name, contacts)),
    severities: entry.severities,
    policy: {
      grouping: grouped ? { waitMs, intervalMs } : null,
      storm: { messages: storm.messages, perMs: storm.per },
      remindMs: remind,
      zone,
      ...(after === undefined ? {} : { afterMs: after }),
      ...(hours === undefined ? {} : { hours: { zone, ranges: hours } }),
    },
  };
}

function addressesOf(type: AnyChannelType, notify: string, contacts: Contacts): ConfiguredNotify['addresses'] {
  const own = contacts[type.name]?.filter((contact) => contact.notify === notify) ?? [];
  return own.flatMap((contact) => type.recipientsOf(contact)).map((recipient) => ({ channel: type.name, recipient }));
}

/** All recipients behind these names, each once. */
export function resolveRecipients(
  choice: 'all' | readonly string[],
  notify: readonly ConfiguredNotify[],
): readonly Recipient[] {
  const named = new Map(notify.map((one) => [one.name, one]));
  const names = choice === 'all' ? [...named.keys()] : choice;
  return mergeRecipients(
    names.flatMap((name) => {
      const { addresses = [], severities = [], policy: { afterMs } = {} } = named.get(name) ?? {};
      const after = afterMs === undefined ? {} : { afterMs };
      return addresses.map((address) => ({ ...address, notify: name, severities, ...after }));
    }),
  );
}

export function resolveSummary({
  summary,
  defaults,
}: Pick<ConfigFile, 'summary' | 'defaults'>): ConfiguredSummary | null {
  if (summary === undefined) return null;
  const timezone = summary.timezone ?? defaults.timezone;
  return { schedule: { kind: 'cron', pattern: summary.cron, timezone }, zone: timezone, notify: summary.notify };
}
