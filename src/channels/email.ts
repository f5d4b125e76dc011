import { z } from 'zod';
import type { ChannelType } from './channel.ts';
import { createEmlChannel } from './eml.ts';
import { createSmtpChannel } from './smtp.ts';
import { MailAddress } from './smtp-server.ts';

const Entry = z.strictObject({
  to: z
    .array(MailAddress, { error: 'expected a list of mail addresses, such as [ops@example.com]' })
    .min(1)
    .max(50)
    .describe('Who gets a mail of their own.'),
});

export const email: ChannelType<'email', typeof Entry> = {
  name: 'email',
  summary: 'Sends mails over SMTP, or writes them into a folder where no mail server is configured.',
  Entry,
  recipientsOf: ({ entry }) => entry.to,
  open({ smtp, mailTemplate: template, mailFolder, hostname, log }) {
    if (smtp !== null) return createSmtpChannel({ server: smtp, template, hostname });
    log.info({ folder: mailFolder }, `there is no smtp in the configuration: mails are written to ${mailFolder}`);
    return createEmlChannel({ folder: mailFolder, template, hostname, log });
  },
};
