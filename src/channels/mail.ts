import type { SendMailOptions } from 'nodemailer';
import addressparser from 'nodemailer/lib/addressparser';
import { singleLine } from '#kernel/text.ts';
import type { Message } from '#monitor/notify/channel.ts';
import type { PlainMail } from '#subscriptions/subscriber-mail.ts';
import type { MailTemplate } from './template.ts';

/** A message as a mail: multipart of text and HTML, with the headers that thread it and keep auto-responders quiet. */
export function mailOf(message: Message, template: MailTemplate, from: string, recipient: string): SendMailOptions {
  const { subject, text, html } = template.render(message);
  const domain = domainOf(from);
  const idOf = (id: string) => `<${id}@${domain}>`;
  const parent = message.references.at(-1);
  const targets = [...new Set(message.incidents.map(({ target }) => target))];
  const [severity] = message.incidents.map((incident) => incident.severity);
  return {
    from,
    to: { name: '', address: recipient },
    envelope: { from: addressOf(from), to: [recipient] },
    subject: singleLine(subject, 500),
    messageId: idOf(message.id),
    ...(parent === undefined ? {} : { inReplyTo: idOf(parent), references: message.references.map(idOf) }),
    date: new Date(message.at),
    text,
    html,
    headers: {
      // RFC 3834, 5: nothing may answer this automatically.
      'Auto-Submitted': 'auto-generated',
      'List-Id': `Watchpost incidents <watchpost.${domain}>`,
      'X-Watchpost-Kind': message.kind,
      ...(targets.length === 0 ? {} : { 'X-Watchpost-Target': singleLine(targets.join(', '), 500) }),
      ...(severity === undefined ? {} : { 'X-Watchpost-Severity': severity }),
    },
    xMailer: false,
    encoding: 'quoted-printable',
    baseBoundary: message.id,
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

/** A mail to a subscriber of a status page. */
export function plainMailOf(
  { id, at, subject, text, headers }: PlainMail,
  from: string,
  recipient: string,
): SendMailOptions {
  return {
    from,
    to: { name: '', address: recipient },
    envelope: { from: addressOf(from), to: [recipient] },
    subject: singleLine(subject, 500),
    messageId: `<${id}@${domainOf(from)}>`,
    date: new Date(at),
    text,
    // As above.
    headers: { 'Auto-Submitted': 'auto-generated', ...headers },
    xMailer: false,
    encoding: 'quoted-printable',
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

/** The bare address of a sender such as `Watchpost <alerts@example.com>`. */
function addressOf(from: string): string {
  const [first] = addressparser(from, { flatten: true });
  return first?.address ?? from;
}

function domainOf(from: string): string {
  return addressOf(from).split('@').at(-1) ?? 'localhost';
}
