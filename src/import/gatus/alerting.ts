import type { EnvironmentVariables } from '#config/read/environment.ts';
import type { SourceNode } from '#config/read/located.ts';
import { formatDuration } from '#kernel/units.ts';
import { foreignDuration } from '../convert.ts';
import type { Draft, PlainMap } from '../draft.ts';
import { setMailServer } from '../mail-server.ts';
import { type NotificationService, serviceEntry } from '../services.ts';
import { placeAt } from '../source.ts';
import { customAlert } from './custom-alert.ts';
import { type GatusAlert, Provider, Text } from './schema.ts';

/** The recipients of an endpoint and the number of rounds. */
export interface AlertRecipients {
  readonly rule: string;
  readonly notify: readonly string[];
}

interface AlertSubject {
  readonly title: string;
  readonly group: string;
  readonly place: string;
}

/** Reads `alerting`: gives for the alerts of an endpoint the names of its rule and its recipients. */
export function readAlerting(
  root: SourceNode,
  draft: Draft,
  env: EnvironmentVariables,
): (alerts: readonly GatusAlert[], about: AlertSubject) => AlertRecipients {
  const section = root.children.get('alerting');
  const providers = new Map(
    [...(section?.children ?? [])].map(([type, { value }]) => [type, Provider.safeParse(value)]),
  );
  const lost = new Set<string>();
  const bodies = new Map<string, PlainMap | null>();

  // The same settings are one recipient, with one file for its secret.
  function written(type: string, settings: AlertSettings, description: string): PlainMap | null {
    const { overrides: _overrides, 'default-alert': _default, ...own } = settings;
    const key = JSON.stringify([type, own, description]);
    const known = bodies.get(key);
    if (known !== undefined) return known;
    const place = placeAt(root, ['alerting', type]);
    const body =
      type === 'custom'
        ? customAlert(own, { draft, place, env, description })
        : bodyOf(type, own, { draft, place, env });
    bodies.set(key, body);
    return body;
  }

  function complete(alert: GatusAlert): GatusAlert {
    const provider = providers.get(alert.type);
    return {
      ...(provider?.success === true ? provider.data['default-alert'] : {}),
      ...definedOf(alert),
      type: alert.type,
    };
  }

  function recipientsOf(alert: GatusAlert, group: string, place: string): readonly string[] {
    const provider = providers.get(alert.type);
    if (provider?.success !== true) {
      draft.note(
        'lost',
        place,
        `${alert.type} has no recipients: it is not configured under alerting, as Gatus would report too`,
      );
      return [];
    }
    const own = provider.data.overrides.find((one) => one.group === group);
    const settings = { ...provider.data, ...own, ...alert['provider-override'] };
    const body = written(alert.type, settings, alert.type === 'custom' ? (alert.description ?? '') : '');
    if (body === null) {
      if (!lost.has(alert.type))
        draft.note('lost', placeAt(root, ['alerting', alert.type]), `alerts by ${alert.type} cannot be carried over`);
      lost.add(alert.type);
      return [];
    }
    const reminder = foreignDuration(alert['minimum-reminder-interval'] ?? '') ?? 0;
    const remind = reminder > 0 ? [formatDuration(reminder)] : [];
    return [draft.recipients(own === undefined ? alert.type : `${alert.type}-${group}`, { ...body, remind })];
  }

  return (alerts, { title, group, place }) => {
    const active = alerts.map(complete).filter(({ enabled }) => enabled !== false);
    const notify = new Set(active.flatMap((alert) => recipientsOf(alert, group, place)));
    if (active.length > 0 && notify.size === 0)
      draft.note(
        'lost',
        place,
        `${title}: it has no recipients here: it has alerts by ${active.map(({ type }) => type).join(', ')} only`,
      );
    const rounds = active.map((alert) => positive(alert['failure-threshold'], 3));
    const recover = active.map((alert) => positive(alert['success-threshold'], 2));
    if (new Set(rounds).size > 1 || new Set(recover).size > 1)
      draft.note(
        'differs',
        place,
        `its alerts have several thresholds; ${Math.min(...rounds)} failing rounds notify all recipients`,
      );
    const body = {
      failing: 'majority',
      rounds: active.length === 0 ? 3 : Math.min(...rounds),
      recover: active.length === 0 ? 2 : Math.min(...recover),
      confirm: false,
    };
    const rule = draft.rule(
      body.rounds === 3 && body.recover === 2 ? 'down' : `down-${body.rounds}-${body.recover}`,
      body,
    );
    return { rule, notify: [...notify] };
  };
}

const positive = (number: number | undefined, fallback: number) =>
  number === undefined || number <= 0 ? fallback : Math.min(number, 99);

const definedOf = (alert: GatusAlert): Partial<GatusAlert> =>
  Object.fromEntries(Object.entries(alert).filter(([, value]) => value !== undefined));

type AlertSettings = Readonly<Record<string, unknown>>;

// A list of recipients is read as one text with commas.
const textOf = (settings: AlertSettings, key: string) => {
  const value = settings[key];
  return Text.safeParse(Array.isArray(value) ? value.join(',') : value).data ?? '';
};

// What each provider calls what a service needs: its address, its secret, whom it reaches.
const services: Readonly<Record<string, (text: (key: string) => string) => NotificationService>> = {
  slack: (text) => ({ kind: 'slack', url: text('webhook-url') }),
  discord: (text) => ({ kind: 'discord', url: text('webhook-url') }),
  teams: (text) => ({ kind: 'teams', url: text('webhook-url') }),
  'teams-workflows': (text) => ({ kind: 'teams', url: text('webhook-url') }),
  mattermost: (text) => ({ kind: 'mattermost', url: text('webhook-url') }),
  rocketchat: (text) => ({ kind: 'rocketchat', url: text('webhook-url') }),
  googlechat: (text) => ({ kind: 'googlechat', url: text('webhook-url') }),
  gotify: (text) => ({ kind: 'gotify', url: text('server-url'), secret: text('token') }),
  pushover: (text) => ({
    kind: 'pushover',
    secret: text('application-token'),
    user: text('user-key'),
    to: text('device'),
  }),
  zulip: (text) => ({
    kind: 'zulip',
    url: text('domain') === '' ? '' : `https://${text('domain')}`,
    secret: text('bot-api-key'),
    from: text('bot-email'),
    to: text('channel-id'),
    thread: text('topic') || 'Gatus',
  }),
  signal: (text) => ({ kind: 'signal', url: text('api-url'), from: text('number'), to: text('recipients') }),
  twilio: (text) => ({
    kind: 'twilio',
    account: text('sid'),
    secret: text('token'),
    from: text('from'),
    to: text('to'),
  }),
  telegram: (text) => ({
    kind: 'telegram',
    secret: text('token'),
    to: text('id'),
    thread: text('topic-id'),
    url: text('api-url'),
  }),
  ntfy: (text) => ({ kind: 'ntfy', url: text('url'), to: text('topic'), secret: text('token') }),
  pagerduty: (text) => ({ kind: 'pagerduty', secret: text('integration-key') }),
  opsgenie: (text) => ({ kind: 'opsgenie', secret: text('api-key') }),
  matrix: (text) => ({
    kind: 'matrix',
    url: text('server-url') || 'https://matrix-client.matrix.org',
    secret: text('access-token'),
    to: text('internal-room-id'),
  }),
};

// How a provider is written under `notify`.
function bodyOf(type: string, settings: AlertSettings, { draft, place, env }: AlertingDraft): PlainMap | null {
  const text = (key: string) => textOf(settings, key);
  if (type === 'email') {
    setMailServer(draft, place, {
      host: text('host'),
      port: text('port'),
      isSecure: text('port') === '465',
      username: text('username') || text('from'),
      password: text('password'),
      from: text('from'),
    });
    return {
      email: {
        to: text('to')
          .split(',')
          .map((one) => one.trim()),
      },
    };
  }
  const service = services[type]?.(text);
  if (service === undefined) return null;
  const secret = expandVariable(service.secret ?? '', env);
  const user = expandVariable(service.user ?? '', env);
  if (secret !== null && user !== null) return serviceEntry(draft, { ...service, secret, user });
  const missing = secret === null ? service.secret : service.user;
  draft.note('lost', place, `the secret of ${type}: ${missing} is not set now, and only a file can hold it`);
  return null;
}

interface AlertingDraft {
  readonly draft: Draft;
  readonly place: string;
  readonly env: EnvironmentVariables;
}

// What stands in the environment while it is imported goes into the file.
export function expandVariable(text: string, env: EnvironmentVariables): string | null {
  const [, name] = /^\$\{(\w+)\}$/.exec(text) ?? [];
  return name === undefined ? text : (env[name] ?? null);
}
