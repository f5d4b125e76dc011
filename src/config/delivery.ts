import { resolve } from 'node:path';
import { channelTypes, type Contact, type Files } from '#channels/index.ts';
import type { Severity } from '#monitor/judge/rule.ts';
import type { DeliveryPolicy } from '#monitor/tell/delivery-policy.ts';
import type { Schedule } from '#schedule/schedule.ts';
import type { Config } from './config.ts';
import type { ConfigFile } from './schema.ts';

export interface ConfiguredNotify {
  readonly name: string;
  /** Everybody behind this name. */
  readonly addresses: readonly { readonly channel: string; readonly recipient: string }[];
  readonly severities: readonly Severity[];
  /** How they want to be told. */
  readonly policy: DeliveryPolicy;
}

export interface ConfiguredSummary {
  readonly schedule: Schedule;
  readonly zone: string;
  /** Names under `notify`. */
  readonly notify: readonly string[];
}

/** What the files hold that the configuration names. */
export interface ReadFiles {
  /** By the path of the key: `smtp.password_file`. */
  readonly named: Files;
  /** Hashes of tokens, by the name of their file as it is written. */
  readonly tokenHashes: ReadonlyMap<string, string>;
}

export function resolveContacts({ notify }: ConfigFile, files: ReadFiles): Config['contacts'] {
  return Object.fromEntries(
    channelTypes.map(({ name: channel }) => [
      channel,
      Object.entries(notify).flatMap(([name, ways]): Contact<unknown>[] => {
        const entry = new Map<string, unknown>(Object.entries(ways)).get(channel);
        const own = filesOf(files, `notify.${name}.${channel}`);
        return entry === undefined ? [] : [{ notify: name, entry, files: own }];
      }),
    ]),
  );
}

export function filesOf({ named }: ReadFiles, section: string): Files {
  return Object.fromEntries(
    Object.entries(named).flatMap(([path, text]) =>
      path.startsWith(`${section}.`) ? [[path.slice(section.length + 1), text]] : [],
    ),
  );
}

export function resolveNotify(
  name: string,
  entry: ConfigFile['notify'][string],
  contacts: Config['contacts'],
  { defaults }: ConfigFile,
): ConfiguredNotify {
  const { grouped, group_wait: waitMs, group_interval: intervalMs, storm, remind, timezone } = entry;
  const addresses = channelTypes.flatMap((type) => {
    const own = contacts[type.name]?.filter(({ notify }) => notify === name) ?? [];
    return own.flatMap((contact) => type.recipientsOf(contact)).map((recipient) => ({ channel: type.name, recipient }));
  });
  return {
    name,
    addresses,
    severities: entry.severities,
    policy: {
      grouping: grouped ? { waitMs, intervalMs } : null,
      storm: { messages: storm.messages, perMs: storm.per },
      remindMs: remind,
      zone: timezone ?? defaults.timezone,
    },
  };
}

export function resolveSummary({ summary, defaults }: ConfigFile): ConfiguredSummary | null {
  if (summary === undefined) return null;
  const timezone = summary.timezone ?? defaults.timezone;
  return { schedule: { kind: 'cron', pattern: summary.cron, timezone }, zone: timezone, notify: summary.notify };
}

export function resolveTemplate({ templates }: ConfigFile, files: ReadFiles, folder: string): Config['mailTemplate'] {
  const text = files.named['templates.mail']?.reveal();
  if (templates.mail === undefined || text === undefined) return null;
  return { path: resolve(folder, templates.mail), text };
}
