import { z } from 'zod';
import { formatDuration } from '#kernel/units.ts';
import type { Draft, PlainMap } from '../draft.ts';
import { setMailServer } from '../mail-server.ts';
import { type KumaData, type Monitor, parsed } from './schema.ts';

const Settings = z.record(z.string(), z.unknown());
type Settings = z.output<typeof Settings>;

/** Adds those who are told, and gives their names for a monitor. */
export function addNotifications(data: KumaData, draft: Draft): (monitor: Monitor) => readonly string[] {
  const names = new Map<number, string>();
  for (const { id, name = `notification ${id}`, active, config } of data.notifications) {
    const place = `${data.place} notification ${id}`;
    if (!active) {
      draft.note('left out', place, `${name}: it is not active`);
      continue;
    }
    const settings = Settings.catch({}).parse(parsed(config));
    const type = String(settings['type']);
    const body = bodies[type]?.(settings, draft, place) ?? null;
    if (body === null) draft.note('lost', place, `${name}: messages by ${type} cannot be carried over`);
    else names.set(id, draft.recipients(name, { ...body, remind: remindersOf(id, data.monitors) }));
  }
  return ({ notifications }) => notifications.flatMap((id) => names.get(id) ?? []);
}

// Kuma repeats by monitor; where all monitors of a recipient agree, the recipient is reminded like that.
function remindersOf(id: number, monitors: readonly Monitor[]): readonly string[] {
  const own = monitors.filter(({ notifications, active }) => active && notifications.includes(id));
  const [wait, ...others] = new Set(own.map(resendMs));
  return wait === undefined || wait === 0 || others.length > 0 ? [] : [formatDuration(wait)];
}

/** How often a monitor that stays down is told again, in milliseconds; 0 for never. */
export const resendMs = ({ resend_interval, interval }: Monitor) => resend_interval * interval * 1_000;

const textOf = (settings: Settings, key: string) => {
  const value = settings[key];
  return typeof value === 'string' || typeof value === 'number' ? String(value).trim() : '';
};

// How each type is written under `notify`.
const bodies: Readonly<Record<string, (settings: Settings, draft: Draft, place: string) => PlainMap | null>> = {
  smtp(settings, draft, place) {
    const to = ['smtpTo', 'smtpCC', 'smtpBCC'].flatMap((key) => addressesOf(textOf(settings, key)));
    setMailServer(draft, place, {
      host: textOf(settings, 'smtpHost'),
      port: textOf(settings, 'smtpPort'),
      isSecure: settings['smtpSecure'] === true,
      username: textOf(settings, 'smtpUsername'),
      password: textOf(settings, 'smtpPassword'),
      from: textOf(settings, 'smtpFrom').replaceAll('"', '') || textOf(settings, 'smtpUsername'),
    });
    if (textOf(settings, 'customSubject') !== '' || textOf(settings, 'customBody') !== '')
      draft.note('lost', place, 'the subject and the body of its own; templates.mail does that for all mails');
    return { email: { to } };
  },
};

const addressesOf = (text: string) =>
  text.split(/[,;]/).flatMap((one) => /<([^>]+)>/.exec(one)?.[1] ?? (one.trim() === '' ? [] : one.trim()));
