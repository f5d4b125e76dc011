import { z } from 'zod';
import type { Clock } from '#kernel/clock.ts';
import type { DeliveryReceipt } from '#monitor/notify/channel.ts';
import type { PlainMail } from '#subscriptions/subscriber-mail.ts';
import type { Section } from './channel.ts';
import { plainMailOf } from './mail.ts';
import { MailAddress, type Smtp, smtpServerOf } from './smtp-server.ts';

export interface SubscriberMailerOptions {
  /** The section `smtp` of the configuration in force; undefined if there is none. */
  readonly smtp: () => Section | undefined;
  /** What this machine greets the server with. */
  readonly hostname: string;
  readonly clock: Clock;
}

/** Sends mails to subscribers of status pages by the mail server of the configuration. Never rejects. */
export function createSubscriberMailer({ smtp, hostname, clock }: SubscriberMailerOptions) {
  return async (mail: PlainMail, recipient: string, signal: AbortSignal): Promise<DeliveryReceipt> => {
    const section = smtp();
    if (section?.value === undefined) return { kind: 'retry', reason: 'smtp is not configured' };
    // Sound because the configuration was parsed by this very schema.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const server = smtpServerOf(section.value as Smtp, section.files);
    const { sendPlainMail } = await import('./smtp.ts');
    return sendPlainMail(plainMailOf(mail, server.from, recipient), { server, hostname, clock, signal });
  };
}

/** Whether a text is a mail address as this program sends to. */
export const isMailAddress = (text: string): boolean => z.string().max(254).pipe(MailAddress).safeParse(text).success;
