import { z } from 'zod';
import { messageOf } from '#kernel/errors.ts';
import { FilePath } from '#kernel/file-path.ts';
import { SecretHeaders } from '#kernel/headers.ts';
import { always } from '#kernel/refine.ts';
import type { Message, DeliveryReceipt } from '#monitor/notify/channel.ts';
import type { ChannelType, Contact, ContactProblem } from './channel.ts';
import { createHttpChannel, type SendContext } from './http-channel.ts';
import { retry } from './http-receipt.ts';
import { needsOneUrl, urlKeys, urlOf, urlProblems } from './secret-url.ts';
import { sign } from './signature.ts';
import { webhookBodyOf } from './webhook-body.ts';
import { problemOfTemplate, renderBody } from './webhook-template.ts';

const WebhookEntry = z
  .strictObject({
    ...urlKeys('expected an address to call, such as "https://hooks.example.com/watchpost"'),
    secret_file: FilePath.optional().describe(
      'A file with the secret that signs every message. Needed unless the body is of your own.',
    ),
    template_file: FilePath.optional().describe(
      'A Liquid template for the body, for services that want one of their own.',
    ),
    content_type: z
      .string()
      .regex(/^[\w.+-]+\/[\w.+-]+(?:; ?[\w.+-]+=[\w.+-]+)*$/, {
        error: 'expected a content type, such as "application/json"',
      })
      .default('application/json')
      .describe('What kind of body the template makes.'),
    headers: SecretHeaders.describe('Headers to send besides, such as Authorization.'),
  })
  .superRefine((entry, context) => {
    needsOneUrl(entry, context);
    if (entry.secret_file === undefined && entry.template_file === undefined) {
      context.addIssue({ code: 'custom', path: ['secret_file'], message: 'is missing: messages are signed' });
    }
  }, always);
type WebhookEntry = z.output<typeof WebhookEntry>;

/** Posts each message as signed JSON, or in a form of the operator's own. */
export const webhook: ChannelType<'webhook', typeof WebhookEntry> = {
  name: 'webhook',
  summary: 'Posts JSON, signed with HMAC-SHA256, or a body of your own to an address of your own.',
  Entry: WebhookEntry,
  sections: {},
  recipientsOf: ({ notify }) => [notify],
  problemsOf: (contact) => [...urlProblems(contact), ...templateProblems(contact)],
  open: (environment, contacts) => createHttpChannel({ name: 'webhook', environment, contacts, send }),
};

async function send(
  message: Message,
  { contact, clock, ...sending }: SendContext<WebhookEntry>,
): Promise<DeliveryReceipt> {
  const { entry, files } = contact;
  const template = files['template_file'];
  const standard = webhookBodyOf(message);
  let body = JSON.stringify(standard);
  try {
    if (template !== undefined) body = renderBody(template, standard);
  } catch (error) {
    return retry(`${entry.template_file}: cannot be used for this message: ${messageOf(error)}`);
  }
  const own = Object.entries(entry.headers).map(([name, value]) => [name.toLowerCase(), value.reveal()] as const);
  const secret = files['secret_file'];
  const headers = {
    'content-type': template === undefined ? 'application/json' : entry.content_type,
    'watchpost-id': message.id,
    ...(secret === undefined
      ? {}
      : { 'watchpost-signature': sign(body, Math.floor(clock.now() / 1_000), secret.reveal()) }),
    ...Object.fromEntries(own),
  };
  return sending.send({ url: urlOf(contact), headers, body, secrets: own.map(([, value]) => value) });
}

function templateProblems({ entry, files }: Contact<WebhookEntry>): readonly ContactProblem[] {
  const template = files['template_file'];
  const problem = template === undefined ? null : problemOfTemplate(template, entry.content_type);
  return problem === null ? [] : [{ path: ['template_file'], message: problem }];
}
