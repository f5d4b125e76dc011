import { createSecureContext } from 'node:tls';
import { z } from 'zod';

const mailbox = /^(?:[^<>\r\n]*<)?[^\s<>@,;:"()]+@[^\s<>@,;:"()]+>?$/;
const address = /^[^\s<>@,;:"()]+@[^\s<>@,;:"()]+$/;

/** A bare mail address. */
export const MailAddress = z
  .string()
  .max(254)
  .regex(address, { error: 'expected an address such as "ops@example.com"' });

const serverUrl = z
  .url({ protocol: /^smtps?$/, error: 'expected smtps://host:port or smtp://host:port' })
  .refine((url) => isBare(url), {
    error: 'expected nothing but host and port: credentials go into username and password',
  });

/** The mail server as the key `smtp` describes it. Secrets may come from files; here they are there already. */
export const SmtpServer = z
  .strictObject({
    url: serverUrl.describe('smtps://host (TLS from the start, port 465) or smtp://host (STARTTLS, port 587).'),
    username: z.string().min(1).optional(),
    password: z.string().min(1).optional(),
    from: z
      .string()
      .max(320)
      .regex(mailbox, { error: 'expected a sender such as "Watchpost <alerts@example.com>"' })
      .describe('The sender of every mail.'),
    require_tls: z
      .boolean()
      .default(false)
      .describe(
        'Send nothing without TLS. Always so where there is a password; TLS is used whenever the server offers it.',
      ),
    ca: z
      .string()
      .refine(holdsCertificates, { error: 'expected certificates in PEM form' })
      .optional()
      .describe('PEM certificates to trust besides those of the system.'),
  })
  .refine(({ username, password }) => (username === undefined) === (password === undefined), {
    error: 'username and password belong together',
  });
export type SmtpServer = z.output<typeof SmtpServer>;

function isBare(url: string): boolean {
  if (!URL.canParse(url)) return true;
  const { username, password, pathname, search, hash, hostname } = new URL(url);
  return hostname !== '' && [username, password, search, hash].every((part) => part === '') && pathname.length < 2;
}

function holdsCertificates(pem: string): boolean {
  try {
    createSecureContext({ ca: pem });
  } catch {
    return false;
  }
  return pem.includes('-----BEGIN CERTIFICATE-----');
}
