import { isWebUrl } from '#kernel/web-url.ts';
import type { Draft, PlainMap } from './draft.ts';

/** What a notification service needs, from any source; empty if the source lacks it. */
export interface NotificationService {
  readonly kind:
    | 'slack'
    | 'discord'
    | 'teams'
    | 'mattermost'
    | 'rocketchat'
    | 'googlechat'
    | 'zulip'
    | 'telegram'
    | 'signal'
    | 'twilio'
    | 'ntfy'
    | 'gotify'
    | 'pushover'
    | 'pagerduty'
    | 'opsgenie'
    | 'splunkoncall'
    | 'matrix';
  /** An address that is a secret, or that of a server. */
  readonly url?: string;
  /** A token or key. */
  readonly secret?: string;
  /** A second secret: the key of a user. */
  readonly user?: string;
  /** A chat, a topic or a room; numbers or devices, with commas. */
  readonly to?: string;
  /** The topic of a chat. */
  readonly thread?: string;
  /** The sender: a number, or the mail address of a bot. */
  readonly from?: string;
  /** The account at Twilio, and the name of its API key if it has one. */
  readonly account?: string;
  readonly key?: string;
}

/**
 * The service as it is written under `notify`, or null if something is missing. Secrets go into files beside the configuration;
 * an address that stands in the environment stays there.
 */
export function serviceEntry(draft: Draft, service: NotificationService): PlainMap | null {
  const { kind, url = '', secret = '', to = '', thread = '' } = service;
  const file = (text: string) => draft.secret(`${kind}-secret`, text);
  if (url !== '' && !isVariable(url) && !isWebUrl(url)) return null;
  if (!(forms[kind] ?? /./).test(secret || ' ')) return null;
  const server = url === '' ? {} : { url: url.replace(/\/+$/, '') };
  switch (kind) {
    case 'slack':
    case 'discord':
    case 'teams':
    case 'mattermost':
    case 'rocketchat':
    case 'googlechat':
    case 'splunkoncall':
      if (url === '') return null;
      return { [kind]: isVariable(url) ? { url } : { url_file: draft.secret(`${kind}-url`, url) } };
    case 'telegram':
      if (secret === '' || to === '') return null;
      return {
        telegram: {
          token_file: file(secret),
          chat: to,
          ...numbered('thread', thread),
          ...(url === '' ? {} : { api_url: server.url }),
        },
      };
    case 'ntfy':
      return to === ''
        ? null
        : { ntfy: { ...server, topic: to, ...(secret === '' ? {} : { token_file: file(secret) }) } };
    case 'pagerduty':
      return secret === '' ? null : { pagerduty: { ...server, routing_key_file: file(secret) } };
    case 'opsgenie':
      return secret === '' ? null : { opsgenie: { ...server, api_key_file: file(secret) } };
    case 'matrix':
      if (url === '' || secret === '' || to === '') return null;
      return { matrix: { homeserver: server.url, room: to, token_file: file(secret) } };
    case 'gotify':
      return url === '' || secret === '' ? null : { gotify: { ...server, token_file: file(secret) } };
    case 'pushover':
      return pushoverEntry(draft, service);
    case 'zulip':
      if (url === '' || secret === '' || to === '' || thread.length > 60 || !service.from?.includes('@')) return null;
      return {
        zulip: {
          ...server,
          bot: service.from,
          api_key_file: file(secret),
          stream: to,
          ...(thread === '' ? {} : { topic: thread }),
        },
      };
    case 'signal':
      return signalEntry(service);
    case 'twilio':
      return twilioEntry(draft, service);
  }
}

function pushoverEntry(draft: Draft, { secret = '', user = '', to = '' }: NotificationService): PlainMap | null {
  const form = /^[\da-zA-Z]{30}$/;
  if (!form.test(secret) || !form.test(user)) return null;
  const token = draft.secret('pushover-secret', secret);
  const device = /^[\w-]{1,25}(?:,[\w-]{1,25})*$/.test(to) ? { device: to } : {};
  return { pushover: { token_file: token, user_file: draft.secret('pushover-user', user), ...device } };
}

const phoneNumber = /^\+[1-9]\d{1,14}$/;
const twilioSender = /^(?:\+[1-9]\d{1,14}|\d{3,8}|MG[\da-f]{32}|[a-z\d ]{1,11})$/i;

// Some name the whole endpoint, others the server.
function signalEntry({ url = '', from = '', to = '' }: NotificationService): PlainMap | null {
  const recipients = to.split(',').flatMap((one) => (one.trim() === '' ? [] : [one.trim()]));
  const isKnown = recipients.every((one) => phoneNumber.test(one) || one.startsWith('group.'));
  if (url === '' || !phoneNumber.test(from) || recipients.length === 0 || !isKnown) return null;
  return { signal: { url: url.replace(/\/+$/, '').replace(/\/v2\/send$/, ''), number: from, recipients } };
}

function twilioEntry(
  draft: Draft,
  { secret = '', to = '', from = '', account = '', key = '' }: NotificationService,
): PlainMap | null {
  if (secret === '' || !twilioSender.test(from) || !phoneNumber.test(to) || !/^AC[\da-f]{32}$/i.test(account))
    return null;
  const own = /^SK[\da-f]{32}$/i.test(key) ? { key } : {};
  if (key !== '' && own.key === undefined) return null;
  return { twilio: { account, ...own, token_file: draft.secret('twilio-secret', secret), from, to } };
}

// Keys in other forms are refused by the configuration.
const forms: Readonly<Partial<Record<NotificationService['kind'], RegExp>>> = {
  telegram: /^\d{3,20}:[\w-]{20,}$/,
  pagerduty: /^[\da-zA-Z]{32}$/,
};

// A text that is nothing but a variable of the environment.
const isVariable = (text: string) => /^\$\{\w+\}$/.test(text);

const numbered = (key: string, text: string) => (/^\d+$/.test(text) ? { [key]: Number(text) } : {});
