import type { z } from 'zod';
import type { Channel } from '#monitor/tell/channel.ts';
import type { ChannelEnvironment, Contact } from './channel.ts';
import { email } from './email.ts';
import { webhook } from './webhook.ts';

export { type ChannelEnvironment, type Contact, FilePath, type Files } from './channel.ts';
export { ping } from './call.ts';
export { MailAddress, Smtp, type SmtpServer, smtpServerOf } from './smtp-server.ts';
export { createMailTemplate, type MailTemplate } from './template.ts';
export { WebhookBody, webhookJsonSchema } from './webhook-body.ts';

/** THE list: every way to reach people. */
export const channels = [email, webhook] as const;

/** A channel type with its own entry out of sight: what shared code handles. */
export interface AnyChannelType {
  readonly name: (typeof channels)[number]['name'];
  readonly summary: string;
  readonly Entry: z.ZodType;
  recipientsOf(contact: Contact<unknown>): readonly string[];
  open(environment: ChannelEnvironment, contacts: () => readonly Contact<unknown>[]): Channel;
}

// Sound because every entry was parsed by the schema of the very channel that it is handed to: both stand under its name.
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
export const channelTypes = channels as unknown as readonly AnyChannelType[];
