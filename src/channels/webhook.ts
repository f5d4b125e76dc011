import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { FilePath } from '#kernel/files.ts';
import { SecretUrl } from '#kernel/url.ts';
import { userAgent } from '#kernel/version.ts';
import type { ChannelType } from './channel.ts';
import { deliver } from './http-receipt.ts';
import { webhookBodyOf } from './webhook-body.ts';

const Entry = z.strictObject({
  url: SecretUrl('expected an address to call, such as "https://hooks.example.com/watchpost"').describe(
    'Where messages are posted to. It may be a private address: it is the choice of whoever writes this file.',
  ),
  secret_file: FilePath.describe('A file with the secret that signs every message.'),
});

/** Posts each message as signed JSON. The recipient is the name under `notify`: its URL may be a secret and may change. */
export const webhook: ChannelType<'webhook', typeof Entry> = {
  name: 'webhook',
  summary: 'Posts JSON, signed with HMAC-SHA256, to an address of your own.',
  Entry,
  sections: {},
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
        const headers = {
          'content-type': 'application/json',
          'user-agent': userAgent,
          'watchpost-id': message.id,
          'watchpost-signature': sign(body, Math.floor(clock.now() / 1_000), secret.reveal()),
        };
        const signal = AbortSignal.any([outer, closing.signal]);
        return deliver({ url, method: 'POST', headers, body }, { clock, signal, secrets: [secret.reveal()] });
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
