import { isWebUrl } from '#kernel/url.ts';
import type { Draft, PlainMap } from './draft.ts';

/** What a notification service needs, from any source; empty if the source lacks it. */
export interface NotificationService {
  readonly kind: 'slack' | 'discord' | 'teams' | 'telegram' | 'ntfy' | 'pagerduty' | 'opsgenie' | 'matrix';
  /** An address that is a secret, or that of a server. */
  readonly url?: string;
  /** A token or key. */
  readonly secret?: string;
  /** A chat, a topic or a room. */
  readonly to?: string;
  /** The topic of a chat. */
  readonly thread?: string;
}

/**
 * The service as it is written under `notify`, or null if something is missing. Secrets go into files beside the configuration;
 * an address that stands in the environment stays there.
 */
export function serviceEntry(
  draft: Draft,
  { kind, url = '', secret = '', to = '', thread = '' }: NotificationService,
): PlainMap | null {
  const file = (text: string) => draft.secret(`${kind}-secret`, text);
  if (url !== '' && !isVariable(url) && !isWebUrl(url)) return null;
  if (!(forms[kind] ?? /./).test(secret || ' ')) return null;
  const server = url === '' ? {} : { url: url.replace(/\/+$/, '') };
  switch (kind) {
    case 'slack':
    case 'discord':
    case 'teams':
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
  }
}

// Keys in other forms are refused by the configuration.
const forms: Readonly<Partial<Record<NotificationService['kind'], RegExp>>> = {
  telegram: /^\d{3,20}:[\w-]{20,}$/,
  pagerduty: /^[\da-zA-Z]{32}$/,
};

// A text that is nothing but a variable of the environment.
const isVariable = (text: string) => /^\$\{\w+\}$/.test(text);

const numbered = (key: string, text: string) => (/^\d+$/.test(text) ? { [key]: Number(text) } : {});
