import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { DeadlineError } from '#kernel/clock.ts';
import { messageOf, systemCode } from '#kernel/errors.ts';
import { Secret } from '#kernel/secret.ts';
import { singleLine } from '#kernel/text.ts';
import { userAgent } from '#kernel/version.ts';
import type { Receipt } from '#monitor/tell/channel.ts';
import { call } from './call.ts';
import { type ChannelType, FilePath } from './channel.ts';
import { webhookBodyOf } from './webhook-body.ts';

const urlHint = 'expected an address to call, such as "https://hooks.example.com/watchpost"';

const Entry = z.strictObject({
  url: z
    .string({ error: urlHint })
    .max(2_048)
    .refine((text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ''), { error: urlHint })
    .transform((text) => new Secret(text))
    .describe(
      'Where messages are posted to. It may be a private address: it is the choice of whoever writes this file.',
    ),
  secret_file: FilePath.describe('A file with the secret that signs every message.'),
});

/** Posts each message as signed JSON. The recipient is the name under `notify`: its URL may be a secret and may change. */
export const webhook: ChannelType<'webhook', typeof Entry> = {
  name: 'webhook',
  summary: 'Posts JSON, signed with HMAC-SHA256, to an address of your own.',
  Entry,
  recipientsOf: ({ notify }) => [notify],
  open({ clock }, contacts) {
    const closing = new AbortController();
    return {
      name: 'webhook',
      async send(message, recipient, outer) {
        const contact = contacts().find(({ notify }) => notify === recipient);
        const secret = contact?.files['secret_file'];
        if (contact === undefined || secret === undefined) {
          return { kind: 'rejected', reason: `notify.${recipient} has no webhook any more` };
        }
        const url = contact.entry.url.reveal();
        const body = JSON.stringify(webhookBodyOf(message));
        const signal = AbortSignal.any([outer, closing.signal]);
        const headers = {
          'content-type': 'application/json',
          'user-agent': userAgent,
          'watchpost-id': message.id,
          'watchpost-signature': sign(body, Math.floor(clock.now() / 1_000), secret.reveal()),
        };
        try {
          const {
            statusCode,
            statusMessage,
            headers: answered,
          } = await call({ url, method: 'POST', headers, body }, signal);
          const said = singleLine(`${statusCode} ${statusMessage ?? ''}`);
          return receiptOf(statusCode, said, retryAfterMs(answered['retry-after'], clock.now()));
        } catch (error) {
          return failed(error, signal);
        }
      },
      async close() {
        closing.abort(new Error('the webhook channel was closed'));
      },
    };
  },
};

/** `t=<unix seconds>,v1=<hex>`: HMAC-SHA256 of `<unix seconds>.<body>`, so that neither can be changed or replayed later. */
function sign(body: string, seconds: number, secret: string): string {
  return `t=${seconds},v1=${createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')}`;
}

// Final is only what says that this very message will never be taken; anything else is repaired by somebody some day.
const final = new Set([400, 406, 409, 410, 411, 413, 414, 415, 422, 431, 451]);

function receiptOf(status: number, said: string, afterMs: number | null): Receipt {
  if (status >= 200 && status <= 299) return { kind: 'delivered', response: said };
  if (final.has(status)) return { kind: 'rejected', reason: said };
  const isRedirect = status >= 300 && status <= 399;
  const reason = isRedirect ? `${said}: redirects are not followed, put the final address into webhook.url` : said;
  return { kind: 'retry', reason, ...(afterMs === null ? {} : { afterMs }) };
}

// RFC 9110, 10.2.3: seconds, or a date.
function retryAfterMs(header: string | undefined, now: number): number | null {
  if (header === undefined) return null;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1_000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}

const neverSent = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ERR_INVALID_URL']);

function failed(error: unknown, signal: AbortSignal): Receipt {
  const { reason }: { reason: unknown } = signal;
  const said = reason instanceof DeadlineError ? `not done within ${reason.ms / 1_000} s` : messageOf(reason ?? error);
  return {
    kind: 'retry',
    reason: singleLine(said),
    ...(neverSent.has(systemCode(error) ?? '') ? {} : { isUncertain: true }),
  };
}
