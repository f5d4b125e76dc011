import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { channelTypes, type Contact, type Files, type SmtpServer, smtpServerOf } from '#channels/index.ts';
import type { CheckSpec, NodeInfo } from '#checks/index.ts';
import type { Secret } from '#kernel/secret.ts';
import { defaultRules, Rule, type Severity } from '#monitor/rule.ts';
import type { ConfigFile } from './schema.ts';
import type { TargetKeys } from './target.ts';

/** What the program does, with every default and reference resolved. Times are milliseconds, paths absolute. */
export interface Config {
  /** The database file. */
  readonly data: string;
  /** `publicUrl` has no slash at its end. */
  readonly http: { readonly host: string; readonly port: number; readonly publicUrl: string | null };
  readonly nodes: readonly ConfiguredNode[];
  readonly smtp: SmtpServer | null;
  /** Who is told, in the order in which they were written. */
  readonly notify: readonly ConfiguredNotify[];
  /** What every channel knows about those whom it reaches, by the channel's name. */
  readonly contacts: Readonly<Record<string, readonly Contact<unknown>[]>>;
  readonly heartbeat: { readonly url: Secret; readonly everyMs: number } | null;
  readonly summary: ConfiguredSummary | null;
  readonly mailTemplate: { readonly path: string; readonly text: string } | null;
  /** In the order in which they were written. */
  readonly targets: readonly ConfiguredTarget[];
}

export interface ConfiguredNode {
  readonly info: NodeInfo;
  /** Source addresses to probe from, per family; absent means the system's choice. */
  readonly localAddress: { readonly 4?: string; readonly 6?: string };
  readonly inFlight: number;
}

export interface ConfiguredNotify {
  readonly name: string;
  /** Everybody behind this name. */
  readonly addresses: readonly { readonly channel: string; readonly recipient: string }[];
  readonly severities: readonly Severity[];
  /** How they want to be told, in the shape of the monitor's `DeliveryPolicy`. */
  readonly policy: {
    readonly grouping: { readonly waitMs: number; readonly intervalMs: number } | null;
    readonly storm: { readonly messages: number; readonly perMs: number };
    readonly remindMs: readonly number[];
    readonly zone: string;
  };
}

export interface ConfiguredSummary {
  readonly schedule: Schedule;
  readonly zone: string;
  /** Names under `notify`. */
  readonly notify: readonly string[];
}

export interface ConfiguredTarget {
  readonly name: string;
  readonly spec: CheckSpec;
  readonly schedule: Schedule;
  readonly nodes: NodesSelection;
  readonly rules: readonly NamedRule[];
  /** Each recipient once. */
  readonly recipients: readonly Recipient[];
  readonly labels: Readonly<Record<string, string>>;
}

export type Schedule =
  | { readonly kind: 'every'; readonly everyMs: number }
  | { readonly kind: 'cron'; readonly pattern: string; readonly timezone: string };

export type NodesSelection =
  | { readonly kind: 'all' }
  | { readonly kind: 'count'; readonly count: number; readonly avoid: readonly string[] }
  | { readonly kind: 'named'; readonly names: readonly string[] };

export interface NamedRule {
  readonly name: string;
  readonly rule: Rule;
}

export interface Recipient {
  readonly channel: string;
  readonly recipient: string;
  /** The key under `notify` that names it; the first where there are several. */
  readonly notify: string;
  /** The severities it hears of, under all of these keys together. */
  readonly severities: readonly Severity[];
}

/** A target whose own keys and spec were judged. */
export interface JudgedTarget {
  readonly name: string;
  readonly keys: TargetKeys;
  readonly spec: CheckSpec;
}

/** What the files hold that the configuration names, by the path of the key: `smtp.password_file`. */
export type ReadFiles = Files;

/** Puts the pieces together. References have been judged before: a name that names nothing is left out here. */
export function resolveConfig(
  file: ConfigFile,
  targets: readonly JudgedTarget[],
  files: ReadFiles,
  folder: string,
): Config {
  const contacts = resolveContacts(file, files);
  const notify = Object.entries(file.notify).map(([name, entry]) => resolveNotify(name, entry, contacts, file));
  return {
    data: resolve(folder, file.data),
    http: { ...file.http.listen, publicUrl: file.http.public_url?.replace(/\/+$/, '') ?? null },
    nodes: Object.entries(file.nodes).map(resolveNode),
    smtp: file.smtp === undefined ? null : smtpServerOf(file.smtp, filesOf(files, 'smtp')),
    notify,
    contacts,
    heartbeat: file.heartbeat === undefined ? null : { url: file.heartbeat.url, everyMs: file.heartbeat.every },
    summary: resolveSummary(file),
    mailTemplate: resolveTemplate(file, files, folder),
    targets: targets.map((target) => resolveTarget(target, file, notify)),
  };
}

function resolveNode([name, node]: [string, ConfigFile['nodes'][string]]): ConfiguredNode {
  const [countryCode, country, city] = node.location ?? ['', '', ''];
  const addresses = [node.local_address ?? []].flat();
  const v4 = addresses.find((address) => isIP(address) === 4);
  const v6 = addresses.find((address) => isIP(address) === 6);
  return {
    info: { name, countryCode, country, city, asn: node.asn ?? '', ip: node.ip ?? '' },
    localAddress: { ...(v4 === undefined ? {} : { 4: v4 }), ...(v6 === undefined ? {} : { 6: v6 }) },
    inFlight: node.in_flight,
  };
}

function resolveContacts({ notify }: ConfigFile, files: ReadFiles): Config['contacts'] {
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

function filesOf(files: ReadFiles, section: string): Files {
  return Object.fromEntries(
    Object.entries(files).flatMap(([path, text]) =>
      path.startsWith(`${section}.`) ? [[path.slice(section.length + 1), text]] : [],
    ),
  );
}

function resolveNotify(
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

function resolveSummary({ summary, defaults }: ConfigFile): ConfiguredSummary | null {
  if (summary === undefined) return null;
  const timezone = summary.timezone ?? defaults.timezone;
  return { schedule: { kind: 'cron', pattern: summary.cron, timezone }, zone: timezone, notify: summary.notify };
}

function resolveTemplate({ templates }: ConfigFile, files: ReadFiles, folder: string): Config['mailTemplate'] {
  const text = files['templates.mail']?.reveal();
  if (templates.mail === undefined || text === undefined) return null;
  return { path: resolve(folder, templates.mail), text };
}

function resolveTarget(
  { name, keys, spec }: JudgedTarget,
  { defaults, ...file }: ConfigFile,
  notify: readonly ConfiguredNotify[],
): ConfiguredTarget {
  const rules = new Map(Object.entries({ ...implicitRules(), ...file.rules }));
  return {
    name,
    spec,
    schedule:
      keys.cron === undefined
        ? { kind: 'every', everyMs: keys.every ?? defaults.every }
        : { kind: 'cron', pattern: keys.cron, timezone: keys.timezone ?? defaults.timezone },
    nodes: resolveNodes(keys.nodes ?? defaults.nodes),
    rules: (keys.rules ?? defaults.rules).flatMap((ruleName) => {
      const rule = rules.get(ruleName);
      return rule === undefined ? [] : [{ name: ruleName, rule }];
    }),
    recipients: resolveRecipients(keys.notify ?? defaults.notify, notify),
    labels: keys.labels,
  };
}

const implicitRules = () =>
  Object.fromEntries(Object.entries(defaultRules).map(([name, rule]) => [name, Rule.parse(rule)]));

function resolveNodes(choice: ConfigFile['defaults']['nodes']): NodesSelection {
  if (choice === 'all') return { kind: 'all' };
  if (typeof choice === 'number') return { kind: 'count', count: choice, avoid: [] };
  return { kind: 'named', names: choice };
}

// Somebody who stands under two names gets one mail, not two.
function resolveRecipients(
  choice: 'all' | readonly string[],
  notify: readonly ConfiguredNotify[],
): readonly Recipient[] {
  const recipients = new Map<string, Recipient>();
  const named = new Map(notify.map((one) => [one.name, one]));
  for (const name of choice === 'all' ? named.keys() : choice) {
    const { addresses = [], severities = [] } = named.get(name) ?? {};
    for (const { channel, recipient } of addresses) {
      const key = `${channel} ${recipient}`;
      const known = recipients.get(key);
      const together = [...new Set([...(known?.severities ?? []), ...severities])];
      recipients.set(key, { channel, recipient, notify: known?.notify ?? name, severities: together });
    }
  }
  return [...recipients.values()];
}
