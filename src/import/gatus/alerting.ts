import type { Located } from '#config/located.ts';
import { formatDuration } from '#kernel/units.ts';
import { foreignDuration } from '../convert.ts';
import type { Draft, PlainMap } from '../draft.ts';
import { setMailServer } from '../mail-server.ts';
import { placeAt } from '../source.ts';
import { type Alert, Provider, Text } from './schema.ts';

/** Who is told of an endpoint and after how many rounds. */
export interface Told {
  readonly rule: string;
  readonly notify: readonly string[];
}

interface About {
  readonly title: string;
  readonly group: string;
  readonly place: string;
}

/** Reads `alerting`: gives for the alerts of an endpoint the names of its rule and its recipients. */
export function readAlerting(root: Located, draft: Draft): (alerts: readonly Alert[], about: About) => Told {
  const section = root.children.get('alerting');
  const providers = new Map(
    [...(section?.children ?? [])].map(([type, { value }]) => [type, Provider.safeParse(value)]),
  );
  const lost = new Set<string>();

  function complete(alert: Alert): Alert {
    const provider = providers.get(alert.type);
    return {
      ...(provider?.success === true ? provider.data['default-alert'] : {}),
      ...definedOf(alert),
      type: alert.type,
    };
  }

  function recipientsOf(alert: Alert, group: string, place: string): readonly string[] {
    const provider = providers.get(alert.type);
    if (provider?.success !== true) {
      draft.note(
        'lost',
        place,
        `nobody is told by ${alert.type}: it is not set up under alerting, as Gatus would say too`,
      );
      return [];
    }
    const own = provider.data.overrides.find((one) => one.group === group);
    const settings = { ...provider.data, ...own, ...alert['provider-override'] };
    const body = bodies[alert.type]?.(settings, draft, placeAt(root, ['alerting', alert.type])) ?? null;
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
        `${title}: nobody is told of it any more: it has alerts by ${active.map(({ type }) => type).join(', ')} only`,
      );
    const rounds = active.map((alert) => positive(alert['failure-threshold'], 3));
    const recover = active.map((alert) => positive(alert['success-threshold'], 2));
    if (new Set(rounds).size > 1 || new Set(recover).size > 1)
      draft.note(
        'differs',
        place,
        `its alerts have several thresholds; ${Math.min(...rounds)} failing rounds tell everybody`,
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

const definedOf = (alert: Alert): Partial<Alert> =>
  Object.fromEntries(Object.entries(alert).filter(([, value]) => value !== undefined));

type Settings = Readonly<Record<string, unknown>>;

// How each provider is written under `notify`.
const bodies: Readonly<Record<string, (settings: Settings, draft: Draft, place: string) => PlainMap | null>> = {
  email(settings, draft, place) {
    const text = (key: string) => Text.safeParse(settings[key]).data ?? '';
    const to = text('to')
      .split(',')
      .map((one) => one.trim());
    setMailServer(draft, place, {
      host: text('host'),
      port: text('port'),
      isSecure: text('port') === '465',
      username: text('username') || text('from'),
      password: text('password'),
      from: text('from'),
    });
    return { email: { to } };
  },
};
