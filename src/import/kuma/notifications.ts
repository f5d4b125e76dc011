import { z } from 'zod';
import { formatDuration } from '#kernel/units.ts';
import type { Draft, PlainMap } from '../draft.ts';
import { setMailServer } from '../mail-server.ts';
import { type NotificationService, serviceEntry } from '../services.ts';
import { webhookOf } from './webhook.ts';
import { type KumaData, type KumaMonitor, parsed } from './schema.ts';

const NotificationSettings = z.record(z.string(), z.unknown());
type NotificationSettings = z.output<typeof NotificationSettings>;

/** Adds the recipients; returns a function from a monitor to the names of its recipients. */
export function addNotifications(data: KumaData, draft: Draft): (monitor: KumaMonitor) => readonly string[] {
  const names = new Map<number, string>();
  for (const { id, name = `notification ${id}`, active, config } of data.notifications) {
    const place = `${data.place} notification ${id}`;
    if (!active) {
      draft.note('left out', place, `${name}: it is not active`);
      continue;
    }
    const settings = NotificationSettings.catch({}).parse(parsed(config));
    const type = String(settings['type']);
    const body = bodyOf(type, settings, draft, place);
    if (body === null) draft.note('lost', place, `${name}: messages by ${type} cannot be carried over`);
    else names.set(id, draft.recipients(name, { ...body, remind: remindersOf(id, data.monitors) }));
  }
  return ({ notifications }) => notifications.flatMap((id) => names.get(id) ?? []);
}

// Kuma has a reminder interval for each monitor. A recipient gets it if all its monitors agree.
function remindersOf(id: number, monitors: readonly KumaMonitor[]): readonly string[] {
  const own = monitors.filter(({ notifications, active }) => active && notifications.includes(id));
  const [wait, ...others] = new Set(own.map(resendMs));
  return wait === undefined || wait === 0 || others.length > 0 ? [] : [formatDuration(wait)];
}

/** The time between reminders of a monitor that stays down, in milliseconds; 0 for none. */
export const resendMs = ({ resend_interval, interval }: KumaMonitor) => resend_interval * interval * 1_000;

const textOf = (settings: NotificationSettings, key: string) => {
  const value = settings[key];
  return typeof value === 'string' || typeof value === 'number' ? String(value).trim() : '';
};

// The settings of each type that hold its URL, its secret and its recipient.
const services: Readonly<Record<string, (text: (key: string) => string) => NotificationService>> = {
  slack: (text) => ({ kind: 'slack', url: text('slackwebhookURL') }),
  discord: (text) => ({ kind: 'discord', url: text('discordWebhookUrl') }),
  teams: (text) => ({ kind: 'teams', url: text('webhookUrl') }),
  mattermost: (text) => ({ kind: 'mattermost', url: text('mattermostWebhookUrl') }),
  'rocket.chat': (text) => ({ kind: 'rocketchat', url: text('rocketwebhookURL') }),
  GoogleChat: (text) => ({ kind: 'googlechat', url: text('googleChatWebhookURL') }),
  Splunk: (text) => ({ kind: 'splunkoncall', url: text('splunkRestURL') }),
  gotify: (text) => ({ kind: 'gotify', url: text('gotifyserverurl'), secret: text('gotifyapplicationToken') }),
  pushover: (text) => ({
    kind: 'pushover',
    secret: text('pushoverapptoken'),
    user: text('pushoveruserkey'),
    to: text('pushoverdevice'),
  }),
  signal: (text) => ({
    kind: 'signal',
    url: text('signalURL'),
    from: text('signalNumber'),
    to: text('signalRecipients'),
  }),
  twilio: (text) => ({
    kind: 'twilio',
    account: text('twilioAccountSID'),
    key: text('twilioApiKey'),
    secret: text('twilioAuthToken'),
    from: text('twilioMessagingServiceSID') || text('twilioFromNumber'),
    to: text('twilioToNumber'),
  }),
  telegram: (text) => ({
    kind: 'telegram',
    secret: text('telegramBotToken'),
    to: text('telegramChatID'),
    thread: text('telegramMessageThreadID'),
    url: text('telegramServerUrl'),
  }),
  ntfy: (text) => ({
    kind: 'ntfy',
    url: text('ntfyserverurl'),
    to: text('ntfytopic'),
    secret: text('ntfyaccesstoken'),
  }),
  PagerDuty: (text) => ({ kind: 'pagerduty', secret: text('pagerdutyIntegrationKey') }),
  Opsgenie: (text) => ({
    kind: 'opsgenie',
    secret: text('opsgenieApiKey'),
    url: text('opsgenieRegion') === 'eu' ? 'https://api.eu.opsgenie.com' : '',
  }),
  matrix: (text) => ({
    kind: 'matrix',
    url: text('homeserverUrl'),
    secret: text('accessToken'),
    to: text('internalRoomId'),
  }),
};

// How a notification is written under `notify`.
function bodyOf(type: string, settings: NotificationSettings, draft: Draft, place: string): PlainMap | null {
  const text = (key: string) => textOf(settings, key);
  if (type === 'webhook') return webhookOf(text, draft, place);
  if (type !== 'smtp') {
    const service = services[type]?.(text);
    if (text('ntfypassword') !== '')
      draft.note('lost', place, 'the user and password of ntfy: it takes an access token');
    return service === undefined ? null : serviceEntry(draft, service);
  }
  const to = ['smtpTo', 'smtpCC', 'smtpBCC'].flatMap((key) => addressesOf(text(key)));
  setMailServer(draft, place, {
    host: text('smtpHost'),
    port: text('smtpPort'),
    isSecure: settings['smtpSecure'] === true,
    username: text('smtpUsername'),
    password: text('smtpPassword'),
    from: text('smtpFrom').replaceAll('"', '') || text('smtpUsername'),
  });
  if (text('customSubject') !== '' || text('customBody') !== '')
    draft.note('lost', place, 'its own subject and body; templates.mail sets them for all mails');
  return { email: { to } };
}

const addressesOf = (text: string) =>
  text.split(/[,;]/).flatMap((one) => /<([^>]+)>/.exec(one)?.[1] ?? (one.trim() === '' ? [] : one.trim()));
