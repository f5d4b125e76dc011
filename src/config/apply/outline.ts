import { createHash } from 'node:crypto';
import { z } from 'zod';
import { checkOf, CheckSpec, checkTypeNames } from '#checks/index.ts';
import { describeObjective } from '#history/budget.ts';
import { Secret } from '#kernel/secret.ts';
import { formatDuration } from '#kernel/units.ts';
import { describeRule, Severity } from '#monitor/judge/rule.ts';
import type { Target } from '#monitor/judge/target.ts';
import type { Config } from '../config.ts';
import { isSecretPath, mask, withoutLogin } from '../print.ts';

const Said = z.record(z.string(), z.string());

/** A target as far as it matters for what a configuration changes and costs. */
export const OutlinedTarget = z.object({
  name: z.string(),
  check: z.enum(checkTypeNames),
  schedule: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('every'), everyMs: z.number() }),
    z.object({ kind: z.literal('cron'), pattern: z.string(), timezone: z.string() }),
  ]),
  nodes: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('all') }),
    z.object({ kind: z.literal('count'), count: z.number(), avoid: z.array(z.string()) }),
    z.object({ kind: z.literal('named'), names: z.array(z.string()) }),
  ]),
  rules: z.array(z.string()),
  recipients: z.array(z.object({ channel: z.string(), recipient: z.string(), severities: z.array(Severity) })),
  /** Everything that it says, by path, as people read it. Secrets are masked. */
  says: Said,
});
export type OutlinedTarget = z.output<typeof OutlinedTarget>;

/** What a configuration says, for comparing two of them in different programs. */
export const Outline = z.object({
  targets: z.array(OutlinedTarget),
  /** Names of the nodes in the process. */
  nodes: z.array(z.string()),
  /** Set if another service runs the checks. */
  service: z.object({ url: z.string(), count: z.number(), perMs: z.number() }).nullable(),
  /** How long history is kept, in milliseconds; null is for ever. */
  kept: z.object({ rawMs: z.number(), hoursMs: z.number(), daysMs: z.number().nullable() }),
  /** Everything beside the targets, by path. */
  says: Said,
  /** Differs if a secret does, under the same salt. */
  secrets: z.string(),
});
export type Outline = z.output<typeof Outline>;

/** The outline of a configuration. It holds no secrets; whether they are the same shows by `salt`, which should be a random text. */
export function outlineOf(config: Config, salt: string): Outline {
  const secrets: string[] = [];
  const { foreignService, nodes, retention } = config;
  const targets = config.targets.map((target) => outlineOfTarget(target, secrets));
  const says = linesOf(settingsOf(config), secrets);
  return {
    targets,
    nodes: nodes.map(({ info }) => info.name),
    service: foreignService === null ? null : { url: foreignService.url, ...foreignService.budget },
    kept: { rawMs: retention.rawMs, hoursMs: retention.hoursMs, daysMs: retention.daysMs },
    says,
    secrets: createHash('sha256')
      .update(JSON.stringify([salt, secrets]))
      .digest('base64url'),
  };
}

function outlineOfTarget(target: Target, secrets: string[]): OutlinedTarget {
  const { name, spec, schedule, nodes, rules, recipients, labels, dependsOn, objective } = target;
  const { type, ...options } = z.encode(CheckSpec, spec);
  const when =
    schedule.kind === 'every'
      ? { every: formatDuration(schedule.everyMs) }
      : { cron: schedule.pattern, timezone: schedule.timezone };
  return {
    name,
    check: spec.type,
    schedule,
    nodes:
      nodes.kind === 'count'
        ? { ...nodes, avoid: [...nodes.avoid] }
        : nodes.kind === 'named'
          ? { ...nodes, names: [...nodes.names] }
          : nodes,
    rules: rules.map((rule) => rule.name),
    recipients: recipients.map(({ channel, recipient, severities }) => ({
      channel,
      recipient,
      severities: [...severities],
    })),
    says: linesOf(
      {
        check: type,
        ...options,
        ...when,
        nodes: nodes.kind === 'named' ? nodes.names : nodes.kind === 'count' ? nodes.count : 'all',
        rules: Object.fromEntries(
          rules.map(({ name: rule, rule: one }) => [rule, `${describeRule(one, checkOf(type))} (${one.severity})`]),
        ),
        notify: [...new Set(recipients.map((one) => one.notify))],
        objective: objective === null ? null : describeObjective(objective),
        depends_on: dependsOn,
        labels,
      },
      secrets,
    ),
  };
}

// By the names that people write, as far as that goes.
function settingsOf(config: Config): OutlineTree {
  const { data, http, ownService, foreignService, nodes, nats, sections, notify, contacts } = config;
  const { host, port, admin, users, ...web } = http;
  const listener = (at: { readonly host: string; readonly port: number }) => `${at.host}:${at.port}`;
  const { tokens = [], ...service } = { ...ownService, ...foreignService };
  return {
    data,
    http: {
      listen: listener({ host, port }),
      admin: admin === null ? null : listener(admin),
      users: named(Object.entries(users).map(([name, hash]) => [name, new Secret(hash)])),
      ...web,
    },
    service: { ...service, tokens: named(tokens.map((token) => [token.name, token.hash])) },
    nodes: named(nodes.map(({ info: { name, ...info }, ...node }) => [name, { ...info, ...node }])),
    nats,
    ...named(Object.entries(sections).map(([name, { value, files }]) => [name, { ...treeOf(value), files }])),
    notify: named(
      notify.map(({ name, severities, policy }) => {
        const ways = Object.entries(contacts).map(([channel, all]) => [
          channel,
          all.filter((contact) => contact.notify === name).map(({ entry, files }) => ({ ...treeOf(entry), files }))[0],
        ]);
        return [name, { ...Object.fromEntries(ways), severities, ...policy }];
      }),
    ),
    heartbeat: config.heartbeat,
    summary: config.summary,
    maintenance: config.maintenance,
    pages: named(
      Object.entries(config.pages).map(([name, { logo, ...page }]) => [name, { ...page, logo: logo?.digest }]),
    ),
    languages: named(Object.entries(config.languages).map(([code, file]) => [code, digestOf(file)])),
    retention: config.retention,
    metrics: config.metrics,
    export: config.export,
    defaults: { unknownAfterMs: config.unknownAfterMs, doubtLimitMs: config.doubtLimitMs },
  };
}

// Of a file as long as a page only that it changed.
const digestOf = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 12);

type OutlineTree = Readonly<Record<string, unknown>>;

const named = (entries: readonly (readonly [string, unknown])[]): OutlineTree => Object.fromEntries(entries);

const treeOf = (value: unknown): OutlineTree => (typeof value === 'object' && value !== null ? { ...value } : {});

/** Every value with its path, in the words of the file; without unset values. */
function linesOf(tree: OutlineTree, secrets: string[]): Readonly<Record<string, string>> {
  const lines: Record<string, string> = {};
  function add(value: unknown, path: readonly string[]): void {
    const key = path.at(-1) ?? '';
    if (value === undefined || value === null) return;
    if (value instanceof Secret || isSecretPath(path)) {
      secrets.push(`${path.join('.')} ${value instanceof Secret ? value.reveal() : JSON.stringify(value)}`);
      lines[path.join('.')] = mask;
    } else if (typeof value === 'number' && key.endsWith('_ms')) {
      lines[path.join('.').slice(0, -'_ms'.length)] = formatDuration(value);
    } else if (Array.isArray(value) && value.every((one) => typeof one !== 'object')) {
      lines[path.join('.')] = value.length === 0 ? 'none' : value.join(', ');
    } else if (typeof value === 'object') {
      for (const [name, one] of Object.entries(value)) add(one, [...path, wordOf(name)]);
    } else lines[path.join('.')] = withoutLogin(typeof value === 'string' ? value : JSON.stringify(value));
  }
  add(tree, []);
  return lines;
}

// `publicUrl` is `public_url`; names that people gave have no capitals.
const wordOf = (name: string) => name.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
