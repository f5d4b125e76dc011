import type { z } from 'zod';
import type { Clock } from '#kernel/clock.ts';
import { readJson } from '#kernel/json.ts';
import type { Secret } from '#kernel/secret.ts';
import { userAgent } from '#kernel/version.ts';
import {
  type Channel,
  type Message,
  type IncidentLink,
  type DeliveryReceipt,
  usualAttemptMs,
} from '#monitor/notify/channel.ts';
import type { CallResponse, ChannelCall } from './call.ts';
import type { ChannelEnvironment, Contact } from './channel.ts';
import { deliver, retry } from './http-receipt.ts';

/** One attempt to reach one contact. */
export interface SendContext<Entry> {
  readonly contact: Contact<Entry>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Sends JSON, or a body as it is, and says what became of it; `read` says what an answer means here, or null for the usual. */
  send(request: ChannelRequest, read?: (response: CallResponse) => DeliveryReceipt | null): Promise<DeliveryReceipt>;
}

export interface ChannelRequest {
  readonly url: string;
  readonly method?: ChannelCall['method'];
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly body?: string;
  /** What no reason may show, besides the URL and what files hold. */
  readonly secrets?: readonly string[];
}

export interface HttpChannelOptions<Entry> {
  readonly name: string;
  readonly environment: ChannelEnvironment;
  readonly contacts: () => readonly Contact<Entry>[];
  readonly send: (message: Message, sending: SendContext<Entry>) => Promise<DeliveryReceipt>;
  /** For a service that considers over whatever is not repeated. */
  readonly renew?: (open: () => readonly IncidentLink[], sending: SendContext<Entry>) => Promise<DeliveryReceipt>;
}

/** A channel that speaks HTTP. Its recipients are names under `notify`: addresses may be secrets, and may change. */
export function createHttpChannel<Entry>(options: HttpChannelOptions<Entry>): Channel {
  const { name, environment, contacts, send, renew } = options;
  const { clock } = environment;
  const closing = new AbortController();

  function sendingTo(contact: Contact<Entry>, outer: AbortSignal): SendContext<Entry> {
    const signal = AbortSignal.any([outer, closing.signal]);
    const known = Object.values(contact.files).map((secret) => secret.reveal());
    return {
      contact,
      clock,
      signal,
      async send({ url, method = 'POST', headers = {}, json, body = JSON.stringify(json), secrets = [] }, read) {
        const all = { 'content-type': 'application/json', 'user-agent': userAgent, ...headers };
        const request = { url, method, headers: all, body };
        return deliver(request, {
          clock,
          signal,
          secrets: [...secrets, ...known],
          ...(read === undefined ? {} : { read }),
        });
      },
    };
  }

  const find = (recipient: string) => contacts().find(({ notify }) => notify === recipient);
  const gone = (recipient: string): DeliveryReceipt => ({
    kind: 'rejected',
    reason: `notify.${recipient} has no ${name} any more`,
  });
  return {
    name,
    attemptMs: usualAttemptMs,
    async send(message, recipient, signal) {
      const contact = find(recipient);
      return contact === undefined ? gone(recipient) : send(message, sendingTo(contact, signal));
    },
    renew:
      renew === undefined
        ? null
        : async (open, recipient, signal) => {
            const contact = find(recipient);
            return contact === undefined ? gone(recipient) : renew(open, sendingTo(contact, signal));
          },
    async close() {
      closing.abort(new Error(`the ${name} channel is closed`));
    },
  };
}

/** What a body of JSON says, or null if it is none of this form. */
export function parsed<Schema extends z.ZodType>(
  schema: Schema,
  { text }: Pick<CallResponse, 'text'>,
): z.output<Schema> | null {
  return readJson(schema, text);
}

/** What an answer with a good status means that cannot be read: the message may well have been taken. */
export function unreadable({ line }: CallResponse): DeliveryReceipt {
  return { ...retry(`${line}, but the body is not what this service answers`), isUncertain: true };
}

/** The secret in a file of the contact; the configuration was refused without it. */
export function fileOf({ notify, files }: Contact<unknown>, key: string): Secret {
  const secret = files[key];
  if (secret === undefined) throw new RangeError(`notify.${notify}: nothing was read for ${key}`);
  return secret;
}
