import { isIP } from 'node:net';
import { resolve } from 'node:path';
import type { CheckSpec, NodeInfo } from '#checks/index.ts';
import { Secret } from '#kernel/secret.ts';
import { defaultRules, Rule, type Severity } from '#monitor/rule.ts';
import { type ConfiguredService, isForeign, resolveForeignService } from './foreign-service.ts';
import { type ConfiguredOwnService, resolveOwnService } from './own-service.ts';
import type { ConfigFile } from './schema.ts';
import type { TargetKeys } from './target.ts';

/** What the program does, with every default and reference resolved. Times are milliseconds, paths absolute. */
export interface Config {
  /** The database file. */
  readonly data: string;
  /** `publicUrl` has no slash at its end. */
  readonly http: {
    readonly host: string;
    readonly port: number;
    readonly publicUrl: string | null;
    /** Addresses and ranges. */
    readonly trustProxy: readonly string[];
  };
  /** The check service that this process serves, or null. */
  readonly ownService: ConfiguredOwnService | null;
  /** Set where somebody else's check service runs the checks. */
  readonly foreignService: ConfiguredService | null;
  /** The nodes of this process: none beside a foreign service. */
  readonly nodes: readonly ConfiguredNode[];
  readonly nats: NatsAccess | null;
  readonly smtp: SmtpServer | null;
  /** In the order in which they were written. */
  readonly targets: readonly ConfiguredTarget[];
  readonly maintenance: readonly ConfiguredMaintenance[];
  readonly retention: { readonly checksMs: number };
}

/** When nobody is told of what begins at these targets. */
export interface ConfiguredMaintenance {
  readonly targets: 'all' | readonly string[];
  readonly time:
    | { readonly kind: 'cron'; readonly pattern: string; readonly timezone: string; readonly durationMs: number }
    | { readonly kind: 'once'; readonly from: number; readonly to: number };
}

export interface ConfiguredNode {
  readonly info: NodeInfo;
  /** Source addresses to probe from, per family; absent means the system's choice. */
  readonly localAddress: { readonly 4?: string; readonly 6?: string };
  readonly inFlight: number;
}

/** How the hub reaches nodes on other machines. */
export interface NatsAccess {
  readonly servers: readonly string[];
  readonly seedFile: string;
  /** PEM certificates to trust instead of the usual ones, or null. */
  readonly ca: string | null;
  /** The list of enrolled nodes. */
  readonly nodesFile: string;
  readonly absentAfterMs: number;
}

export interface SmtpServer {
  readonly host: string;
  readonly port: number;
  /** True for TLS from the first byte, false for STARTTLS. */
  readonly secure: boolean;
  readonly signIn: { readonly username: string; readonly password: Secret } | null;
  readonly from: string;
  /** PEM certificates to trust instead of the usual ones, or null. */
  readonly ca: string | null;
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
  /** Names of targets. */
  readonly dependsOn: readonly string[];
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

/** The contents of the files that the configuration names; null where it names none. */
export interface ReadFiles {
  readonly serviceToken: Secret | null;
  readonly password: Secret | null;
  readonly ca: string | null;
  readonly natsCa: string | null;
  /** Hashes of tokens, by the name of their file as it is written. */
  readonly tokenHashes: ReadonlyMap<string, string>;
}

/** Puts the pieces together. References have been judged before: a name that names nothing is left out here. */
export function resolveConfig(
  file: ConfigFile,
  targets: readonly JudgedTarget[],
  files: ReadFiles,
  folder: string,
): Config {
  return {
    data: resolve(folder, file.data),
    http: {
      ...file.http.listen,
      publicUrl: file.http.public_url?.replace(/\/+$/, '') ?? null,
      trustProxy: file.http.trust_proxy,
    },
    ...resolveService(file.service, files),
    nodes: isForeign(file.service) ? [] : Object.entries(file.nodes).map(resolveNode),
    nats: file.nats === undefined ? null : resolveNats(file.nats, files, folder),
    smtp: file.smtp === undefined ? null : resolveSmtp(file.smtp, files),
    targets: targets.map((target) => resolveTarget(target, file)),
    maintenance: file.maintenance.flatMap((entry) => resolveMaintenance(entry, file.defaults.timezone)),
    retention: { checksMs: file.retention.checks },
  };
}

function resolveService(
  service: ConfigFile['service'],
  { serviceToken, tokenHashes }: ReadFiles,
): Pick<Config, 'ownService' | 'foreignService'> {
  if (service === undefined) return { ownService: null, foreignService: null };
  if (isForeign(service)) return { ownService: null, foreignService: resolveForeignService(service, serviceToken) };
  return { ownService: resolveOwnService(service, tokenHashes), foreignService: null };
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

function resolveNats(nats: NonNullable<ConfigFile['nats']>, { natsCa }: ReadFiles, folder: string): NatsAccess {
  return {
    servers: nats.servers,
    seedFile: resolve(folder, nats.seed_file),
    ca: natsCa,
    nodesFile: resolve(folder, nats.nodes_file),
    absentAfterMs: nats.absent_after,
  };
}

function resolveSmtp(smtp: NonNullable<ConfigFile['smtp']>, { password: filed, ca }: ReadFiles): SmtpServer {
  const { hostname, port, protocol } = new URL(smtp.url);
  const secure = protocol === 'smtps:';
  const password = smtp.password === undefined ? filed : new Secret(smtp.password);
  return {
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? standardPort(secure) : Number(port),
    secure,
    signIn: smtp.username === undefined || password === null ? null : { username: smtp.username, password },
    from: smtp.from,
    ca,
  };
}

// RFC 8314 section 3.3 and RFC 6409 section 3.1.
const standardPort = (secure: boolean) => (secure ? 465 : 587);

function resolveTarget({ name, keys, spec }: JudgedTarget, { defaults, ...file }: ConfigFile): ConfiguredTarget {
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
    recipients: resolveRecipients(keys.notify ?? defaults.notify, file.notify),
    labels: keys.labels,
    dependsOn: [keys.depends_on ?? []].flat(),
  };
}

function resolveMaintenance(
  { targets, cron, timezone, duration, from, to }: ConfigFile['maintenance'][number],
  defaultZone: string,
): readonly ConfiguredMaintenance[] {
  if (cron !== undefined && duration !== undefined) {
    const time = { kind: 'cron', pattern: cron, timezone: timezone ?? defaultZone, durationMs: duration } as const;
    return [{ targets, time }];
  }
  return from === undefined || to === undefined ? [] : [{ targets, time: { kind: 'once', from, to } }];
}

const implicitRules = () =>
  Object.fromEntries(Object.entries(defaultRules).map(([name, rule]) => [name, Rule.parse(rule)]));

function resolveNodes(choice: ConfigFile['defaults']['nodes']): NodesSelection {
  if (choice === 'all') return { kind: 'all' };
  if (typeof choice === 'number') return { kind: 'count', count: choice, avoid: [] };
  return { kind: 'named', names: choice };
}

// Somebody who stands under two names gets one mail, not two.
function resolveRecipients(choice: 'all' | readonly string[], notify: ConfigFile['notify']): readonly Recipient[] {
  const recipients = new Map<string, Recipient>();
  for (const name of choice === 'all' ? Object.keys(notify) : choice) {
    for (const [channel, { to }] of Object.entries({ email: notify[name]?.email ?? { to: [] } })) {
      for (const recipient of to) {
        const known = recipients.get(`${channel} ${recipient}`);
        const severities = new Set([...(known?.severities ?? []), ...(notify[name]?.severities ?? [])]);
        recipients.set(`${channel} ${recipient}`, {
          channel,
          recipient,
          notify: known?.notify ?? name,
          severities: [...severities],
        });
      }
    }
  }
  return [...recipients.values()];
}
