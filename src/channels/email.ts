import type { ChannelType } from './channel.ts';
import { createEmlChannel } from './eml.ts';
import { createSmtpChannel } from './smtp.ts';

export const email: ChannelType<'email'> = {
  name: 'email',
  summary: 'Sends mails over SMTP, or writes them into a folder where no mail server is configured.',
  open({ smtp, mailFolder, hostname, log }) {
    if (smtp !== null) return createSmtpChannel({ server: smtp, hostname });
    log.info({ folder: mailFolder }, `there is no smtp in the configuration: mails are written to ${mailFolder}`);
    return createEmlChannel({ folder: mailFolder, hostname, log });
  },
};
