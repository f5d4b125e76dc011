import type { LanguageFile } from '#languages/language.ts';
import { type ConfiguredHub, hubSeedFile, resolveHub } from './hub.ts';
import { type ConfiguredNode, nodesOf } from './nodes.ts';
import type { LogoImage, StatusPage } from './shape/pages.ts';
import { resolve } from 'node:path';
import type { CheckSpec, NodeSelection } from '#checks/index.ts';
import { sha256 } from '#kernel/hash.ts';
import { sharingParts } from '#kernel/same-parts.ts';
import type { Secret } from '#kernel/secret.ts';
import type { Maintenance } from '#monitor/suppress/maintenance.ts';
import type { Target } from '#monitor/judge/target.ts';
import {
  type ConfiguredNotify,
  type ConfiguredSummary,
  type Contacts,
  type ReadFiles,
  resolveContacts,
  resolveNotify,
  resolveRecipients,
  resolveSections,
  resolveSummary,
  type Sections,
} from './delivery.ts';
import type { FoundList } from './lists/discover.ts';
import { rulesIn } from './rules.ts';
import { type ConfiguredService, isForeign, resolveForeignService } from './shape/foreign-service.ts';
import { type ConfiguredOwnService, resolveOwnService } from './shape/own-service.ts';
import { type ConfiguredExport, resolveExport } from './shape/export.ts';
import { type ConfiguredEvidence, resolveEvidence } from './shape/evidence.ts';
import type { ConfigFile } from './shape/schema.ts';
import type { TargetKeys } from './shape/target.ts';

/** What the program does, with every default and reference resolved. Times are milliseconds, paths absolute. */
export interface Config {
  /** Patterns of the files that targets and languages come from: a new one is a change. */
  readonly watched: readonly string[];
  /** What addresses listed that targets come from. */
  readonly lists: readonly FoundList[];
  /** The database file. */
  readonly data: string;
  /** `publicUrl` has no slash at its end. */
  readonly http: {
    readonly host: string;
    readonly port: number;
    /** Where metrics, health and what operators do are served, or null: then with everything else. */
    readonly admin: { readonly host: string; readonly port: number } | null;
    readonly publicUrl: string | null;
    /** Addresses and ranges. */
    /** The most at the same time. */
    readonly connections: number;
    readonly trustProxy: readonly string[];
    /** The hashes of passwords, by the name of the user. */
    readonly users: Readonly<Record<string, string>>;
    /** In lower case. */
    readonly userHeader: string | null;
  };
  /** The check service that this process serves, or null. */
  readonly ownService: ConfiguredOwnService | null;
  /** Set if another check service runs the checks. */
  readonly foreignService: ConfiguredService | null;
  /** The nodes of this process: none beside a foreign service. */
  readonly nodes: readonly ConfiguredNode[];
  readonly nats: NatsAccess | null;
  /** Null if this is the only hub. */
  readonly hubs: ConfiguredHub | null;
  readonly sections: Sections;
  /** The recipients, in the order in which they were written. */
  readonly notify: readonly ConfiguredNotify[];
  readonly contacts: Contacts;
  readonly heartbeat: { readonly url: Secret; readonly everyMs: number } | null;
  readonly summary: ConfiguredSummary | null;
  /** After how long a target that cannot be judged, or a check service that is away, is notified; null for never. */
  readonly unknownAfterMs: number | null;
  /** For how long a doubt about ourselves may suppress critical incidents. */
  readonly doubtLimitMs: number;
  /** The zone of times that name none. */
  readonly timezone: string;
  /** Whether signed-in users may change targets on pages. */
  readonly isWritable: boolean;
  /** In the order in which they were written. */
  readonly targets: readonly Target[];
  readonly maintenance: readonly Maintenance[];
  /** Files with a secret that every user of the machine may read. */
  readonly exposedFiles: readonly string[];
  /** Public pages, by name. */
  readonly pages: Readonly<Record<string, StatusPage & { readonly logo: LogoImage | null }>>;
  /** Languages of status pages besides those that come with the program, by their codes. */
  readonly languages: Readonly<Record<string, LanguageFile>>;
  readonly metrics: {
    /** Upper bounds of the buckets of a check's duration, in seconds; null for our own. */
    readonly buckets: readonly number[] | null;
    /** Whether there are figures under the names of blackbox_exporter too. */
    readonly blackbox: boolean;
    /** How many pairs of target and node have series of their own; with more they are summed over nodes. */
    readonly pairLimit: number;
  };
  readonly export: ConfiguredExport;
  readonly evidence: ConfiguredEvidence;
  /** Null is for ever. */
  readonly retention: {
    readonly rawMs: number;
    readonly hoursMs: number;
    readonly daysMs: number | null;
    readonly verdictsMs: number | null;
    readonly incidentsMs: number | null;
    readonly checksMs: number;
  };
}

/** How the hub reaches nodes on other machines. */
export interface NatsAccess {
  readonly servers: readonly string[];
  readonly seedFile: string;
  /** The key of this hub alone, if it is one of several; it is used if it is there. */
  readonly ownSeedFile: string | null;
  /** PEM certificates to trust instead of the usual ones, or null. */
  readonly ca: string | null;
  /** The list of enrolled nodes. */
  readonly nodesFile: string;
  readonly absentAfterMs: number;
}

/** A target whose own keys and spec were validated. */
export interface ValidatedTarget {
  readonly name: string;
  readonly keys: TargetKeys;
  readonly spec: CheckSpec;
}

/** Puts the pieces together. References are valid by now: a name that names nothing is dropped here. */
export function resolveConfig(
  file: ConfigFile,
  targets: readonly ValidatedTarget[],
  files: ReadFiles,
  folder: string,
): Omit<Config, 'watched' | 'lists'> {
  const contacts = resolveContacts(file, files);
  const rulesOf = rulesIn(file);
  const notify = Object.entries(file.notify).map(([name, entry]) => resolveNotify(name, entry, contacts, file));
  return {
    data: resolve(folder, file.data),
    http: {
      ...file.http.listen,
      admin: file.http.admin ?? null,
      publicUrl: file.http.public_url?.replace(/\/+$/, '') ?? null,
      connections: file.http.connections,
      trustProxy: file.http.trust_proxy,
      users: usersOf(file.http.users, files),
      userHeader: file.http.user_header?.toLowerCase() ?? null,
    },
    ...resolveService(file.service, files),
    nodes: isForeign(file.service) ? [] : nodesOf(file, folder),
    nats: file.nats === undefined ? null : resolveNats(file.nats, file.hubs?.name ?? null, files, folder),
    hubs: file.hubs === undefined ? null : resolveHub(file.hubs, file.nats?.servers.length ?? 1),
    sections: resolveSections(file, files),
    notify,
    contacts,
    heartbeat: file.heartbeat === undefined ? null : { url: file.heartbeat.url, everyMs: file.heartbeat.every },
    summary: resolveSummary(file),
    unknownAfterMs: file.defaults.unknown_after === 'never' ? null : file.defaults.unknown_after,
    doubtLimitMs: file.defaults.doubt_limit,
    timezone: file.defaults.timezone,
    isWritable: file.config.writable,
    targets: targets
      .map((target) => resolveTarget(withSecret(target, files), file, notify, rulesOf))
      .map(sharingParts()),
    maintenance: file.maintenance.flatMap((entry) => resolveMaintenance(entry, file.defaults.timezone)),
    exposedFiles: files.exposed,
    pages: Object.fromEntries(
      Object.entries(file.pages).map(([name, page]) => [name, { ...page, logo: files.logos.get(name) ?? null }]),
    ),
    languages: files.languages,
    metrics: {
      buckets: file.metrics.buckets ?? null,
      blackbox: file.metrics.blackbox,
      pairLimit: file.metrics.pair_limit,
    },
    export: resolveExport(file.export, files, folder),
    evidence: resolveEvidence(file.evidence, targets),
    retention: {
      rawMs: file.retention.raw,
      // An hour is kept for as long as its results are.
      hoursMs: Math.max(file.retention.hours, file.retention.raw),
      daysMs: file.retention.days,
      verdictsMs: file.retention.verdicts,
      incidentsMs: file.retention.incidents,
      checksMs: file.retention.checks,
    },
  };
}

function resolveService(
  service: ConfigFile['service'],
  { named, tokenHashes }: ReadFiles,
): Pick<Config, 'ownService' | 'foreignService'> {
  if (service === undefined) return { ownService: null, foreignService: null };
  if (isForeign(service))
    return { ownService: null, foreignService: resolveForeignService(service, named['service.token_file'] ?? null) };
  return { ownService: resolveOwnService(service, tokenHashes), foreignService: null };
}

function usersOf(users: ConfigFile['http']['users'], { named }: ReadFiles): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(users).map(([name, { password_hash: hash }]) => {
      const read = named[`http.users.${name}.password_hash_file`]?.reveal() ?? '';
      return [name, (hash ?? read).trim()];
    }),
  );
}

function resolveNats(
  nats: NonNullable<ConfigFile['nats']>,
  hub: string | null,
  { named }: ReadFiles,
  folder: string,
): NatsAccess {
  const seedFile = resolve(folder, nats.seed_file);
  return {
    servers: nats.servers,
    seedFile,
    ownSeedFile: hub === null ? null : hubSeedFile({ seedFile }, hub),
    ca: named['nats.ca_file']?.reveal() ?? null,
    nodesFile: resolve(folder, nats.nodes_file),
    absentAfterMs: nats.absent_after,
  };
}

function resolveTarget(
  { name, keys, spec }: ValidatedTarget,
  { defaults }: ConfigFile,
  notify: readonly ConfiguredNotify[],
  rulesOf: ReturnType<typeof rulesIn>,
): Target {
  return {
    name,
    spec,
    schedule:
      keys.cron === undefined
        ? { kind: 'every', everyMs: keys.every ?? defaults.every }
        : { kind: 'cron', pattern: keys.cron, timezone: keys.timezone ?? defaults.timezone },
    nodes: resolveNodes(keys.nodes ?? defaults.nodes),
    rules: rulesOf(keys.rules ?? defaults.rules, spec.type),
    recipients: resolveRecipients(keys.notify ?? defaults.notify, notify),
    labels: keys.labels,
    dependsOn: [keys.depends_on ?? []].flat(),
    objective: keys.objective === undefined ? (defaults.objective ?? null) : keys.objective,
  };
}

// What a job calls with is kept as its hash only.
function withSecret(target: ValidatedTarget, { named }: ReadFiles): ValidatedTarget {
  const secret = named[`targets.${target.name}.secret_file`];
  if (secret === undefined || !('secret_file' in target.spec)) return target;
  const { secret_file: _, ...spec } = target.spec;
  return { ...target, spec: { ...spec, secret_hash: sha256(secret.reveal()) } };
}

function resolveMaintenance(
  { targets, cron, timezone, duration, from, to }: ConfigFile['maintenance'][number],
  defaultZone: string,
): readonly Maintenance[] {
  if (cron !== undefined && duration !== undefined) {
    const time = { kind: 'cron', pattern: cron, timezone: timezone ?? defaultZone, durationMs: duration } as const;
    return [{ targets, time }];
  }
  return from === undefined || to === undefined ? [] : [{ targets, time: { kind: 'once', from, to } }];
}

function resolveNodes(choice: ConfigFile['defaults']['nodes']): NodeSelection {
  if (choice === 'all') return { kind: 'all' };
  if (typeof choice === 'number') return { kind: 'count', count: choice, avoid: [] };
  return { kind: 'named', names: choice };
}
