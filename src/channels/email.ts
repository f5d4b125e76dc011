import { join } from 'node:path';
import { z } from 'zod';
import { FilePath } from '#kernel/file-path.ts';
import type { ChannelType } from './channel.ts';
import { createEmlChannel } from './eml.ts';
import { createSmtpChannel } from './smtp.ts';
import { MailAddress, Smtp, smtpServerOf } from './smtp-server.ts';
import { createMailTemplate } from './template.ts';

const Entry = z.strictObject({
  to: z
    .array(MailAddress, { error: 'expected a list of mail addresses, such as [ops@example.com]' })
    .min(1)
    .max(50)
    .describe('Who gets a mail of their own.'),
});

const sections = {
  smtp: Smtp.optional().describe('The mail server. Without it mails are written as files beside the database.'),
  templates: z
    .strictObject({
      mail: FilePath.optional().describe('A Liquid template for mails instead of the one that comes with Watchpost.'),
    })
    .prefault({})
    .describe('Templates that replace those of Watchpost.'),
};

export const email: ChannelType<'email', typeof Entry, typeof sections> = {
  name: 'email',
  summary: 'Sends mails over SMTP, or writes them into a folder if no mail server is configured.',
  Entry,
  sections,
  recipientsOf: ({ entry }) => entry.to,
  open({ folder, hostname, clock, log }, _contacts, { smtp, templates }) {
    const text = templates.files['mail']?.reveal();
    const template = createMailTemplate(text === undefined ? undefined : { path: templates.value.mail ?? '', text });
    if (smtp.value !== undefined) {
      return createSmtpChannel({ server: smtpServerOf(smtp.value, smtp.files), template, hostname, clock });
    }
    const mails = join(folder, 'mail');
    log.info({ folder: mails }, `smtp is not configured; mails are written to ${mails}`);
    return createEmlChannel({ folder: mails, template, hostname, log });
  },
};
