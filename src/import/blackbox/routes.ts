import { z } from 'zod';
import { find, type SourceNode } from '#config/read/located.ts';
import { dayMs, formatDuration } from '#kernel/units.ts';
import { foreignDuration } from '../convert.ts';
import type { Draft, PlainMap } from '../draft.ts';
import { setMailServer } from '../mail-server.ts';
import { type NotificationService, serviceEntry } from '../services.ts';
import { placeAt } from '../source.ts';
import { fits } from './alerts.ts';
import type { Matcher } from './promql.ts';

const Text = z.union([z.string(), z.number(), z.boolean()]).transform(String);
const Route = z.looseObject({
  receiver: Text.optional(),
  match: z.record(z.string(), Text).default({}),
  match_re: z.record(z.string(), Text).default({}),
  matchers: z.array(Text).default([]),
  continue: z.boolean().default(false),
  routes: z.array(z.unknown()).default([]),
  group_wait: Text.optional(),
  group_interval: Text.optional(),
  repeat_interval: Text.optional(),
});
const Settings = z.record(z.string(), z.unknown());
const Configs = z.array(z.record(z.string(), z.unknown())).default([]);
const Receiver = z.looseObject({
  name: Text,
  email_configs: z.array(z.looseObject({ to: Text.default('') })).default([]),
});
const Global = z.looseObject({
  smtp_smarthost: Text.default(''),
  smtp_from: Text.default(''),
  smtp_auth_username: Text.default(''),
  smtp_auth_password: Text.default(''),
});

export interface RoutingTree {
  /** The names under `notify` of the receivers of an alert with these labels. */
  receivers(labels: ReadonlyMap<string, string>): readonly string[];
}

/** Reads the configuration of an Alertmanager; without one there is no receiver in particular. */
export function readRouting(root: SourceNode | null, draft: Draft): RoutingTree {
  const top = Route.safeParse(root === null ? null : find(root, ['route'])?.value);
  if (root === null || !top.success) return { receivers: () => [] };
  for (const section of ['inhibit_rules', 'time_intervals', 'mute_time_intervals', 'templates'])
    if (find(root, [section]) !== null) draft.note('lost', placeAt(root, [section]), section);
  const waits: PlainMap = {
    group_wait: waitOf(top.data.group_wait, 3_600_000),
    group_interval: waitOf(top.data.group_interval, dayMs),
    remind: [formatDuration(foreignDuration(top.data.repeat_interval ?? '4h') ?? 14_400_000)],
  };
  const names = addReceivers(root, waits, draft);
  return {
    receivers: (labels) =>
      [...new Set(receiversOf(top.data, top.data.receiver ?? '', labels))].flatMap((name) => names.get(name) ?? []),
  };
}

const waitOf = (text: string | undefined, mostMs: number) =>
  text === undefined ? undefined : formatDuration(Math.min(foreignDuration(text) ?? 30_000, mostMs));

function addReceivers(root: SourceNode, waits: PlainMap, draft: Draft): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const [index, { value }] of find(root, ['receivers'])?.children ?? []) {
    const place = placeAt(root, ['receivers', Number(index)]);
    const read = Receiver.safeParse(value);
    if (!read.success) continue;
    const { name, email_configs, ...others } = read.data;
    const services: PlainMap = addServices(root, others, draft, (what) =>
      draft.note('lost', place, `receiver ${name}: ${what}`),
    );
    const to = email_configs
      .flatMap((config) => config.to.split(',').map((one) => one.trim()))
      .filter((one) => one !== '');
    if (to.length === 0) {
      if (Object.keys(services).length > 0) names.set(name, draft.recipients(name, { ...services, ...waits }));
      continue;
    }
    const global = Global.catch({
      smtp_smarthost: '',
      smtp_from: '',
      smtp_auth_username: '',
      smtp_auth_password: '',
    }).parse(find(root, ['global'])?.value ?? {});
    const [, host = '', port = ''] = /^(.*):(\d+)$/.exec(global.smtp_smarthost) ?? [];
    setMailServer(draft, place, {
      host,
      port,
      isSecure: port === '465',
      username: global.smtp_auth_username,
      password: global.smtp_auth_password,
      from: global.smtp_from,
    });
    names.set(name, draft.recipients(name, { email: { to }, ...services, ...waits }));
  }
  return names;
}

// What each kind of receiver calls what a service needs, here or for all under `global`.
const kinds: Readonly<Record<string, (text: (key: string) => string) => NotificationService>> = {
  slack_configs: (text) => ({ kind: 'slack', url: text('api_url') || text('slack_api_url') }),
  discord_configs: (text) => ({ kind: 'discord', url: text('webhook_url') }),
  msteams_configs: (text) => ({ kind: 'teams', url: text('webhook_url') }),
  msteamsv2_configs: (text) => ({ kind: 'teams', url: text('webhook_url') }),
  telegram_configs: (text) => ({
    kind: 'telegram',
    secret: text('bot_token') || text('telegram_bot_token'),
    to: text('chat_id'),
    thread: text('message_thread_id'),
    url: text('api_url'),
  }),
  pagerduty_configs: (text) => ({ kind: 'pagerduty', secret: text('routing_key') || text('service_key') }),
  opsgenie_configs: (text) => ({ kind: 'opsgenie', secret: text('api_key') || text('opsgenie_api_key') }),
};

function addServices(
  root: SourceNode,
  configs: Readonly<Record<string, unknown>>,
  draft: Draft,
  lose: (what: string) => void,
): PlainMap {
  const global = Settings.catch({}).parse(find(root, ['global'])?.value ?? {});
  let entries: PlainMap = {};
  for (const [kind, value] of Object.entries(configs)) {
    const [first, ...more] = Configs.catch([]).parse(value);
    const settings = { ...global, ...first };
    const service = kinds[kind]?.((key) => Text.safeParse(settings[key]).data ?? '');
    const entry = service === undefined ? null : serviceEntry(draft, service);
    if (entry === null) lose(kind);
    else entries = { ...entries, ...entry };
    if (entry !== null && more.length > 0) lose(`all ${kind} but the first`);
  }
  return entries;
}

// The first child that fits takes it, and the next ones too if it says "continue"; if none does, it is the parent's.
function receiversOf(
  route: z.output<typeof Route>,
  receiver: string,
  labels: ReadonlyMap<string, string>,
): readonly string[] {
  const found: string[] = [];
  for (const one of route.routes) {
    const child = Route.safeParse(one);
    if (!child.success || !matchersOf(child.data).every((matcher) => fits(matcher, labels.get(matcher.label) ?? '')))
      continue;
    found.push(...receiversOf(child.data, child.data.receiver ?? receiver, labels));
    if (!child.data.continue) break;
  }
  return found.length === 0 ? [receiver] : found;
}

function matchersOf({ match, match_re, matchers }: z.output<typeof Route>): readonly Matcher[] {
  return [
    ...Object.entries(match).map(([label, value]) => ({ label, operator: '=', value }) as const),
    ...Object.entries(match_re).map(([label, value]) => ({ label, operator: '=~', value }) as const),
    ...matchers.flatMap((text) =>
      text
        .replace(/^\{|\}$/g, '')
        .split(/,(?=\s*[A-Za-z_]\w*\s*[=!])/)
        .flatMap(matcherOf),
    ),
  ];
}

function matcherOf(text: string): readonly Matcher[] {
  const [, label, operator, quoted, bare] =
    /^\s*([A-Za-z_]\w*)\s*(=~|!~|!=|=)\s*(?:"((?:[^"\\]|\\.)*)"|(.*?))\s*$/.exec(text) ?? [];
  if (label === undefined || (operator !== '=' && operator !== '!=' && operator !== '=~' && operator !== '!~'))
    return [];
  return [{ label, operator, value: quoted ?? bare ?? '' }];
}
