import { z } from 'zod';
import type { SecretFiles } from '#kernel/files.ts';
import { FilePath } from '#kernel/file-path.ts';
import { always, refuseBoth } from '#kernel/refine.ts';
import { Secret } from '#kernel/secret.ts';
import { isUrl } from '#kernel/web-url.ts';

const mailbox = /^(?:[^<>\r\n]*<[^\s<>@,;:"()]+@[^\s<>@,;:"()]+>|[^\s<>@,;:"()]+@[^\s<>@,;:"()]+)$/;
const address = /^[^\s<>@,;:"()]+@[^\s<>@,;:"()]+$/;
const urlHint = 'expected smtp://host, smtp://host:port, smtps://host or smtps://host:port';

/** A bare mail address. */
export const MailAddress = z
  .string({ error: 'expected a mail address, such as "ops@example.com"' })
  .max(254)
  .regex(address, { error: 'expected a mail address, such as "ops@example.com"' });

const Dkim = z.strictObject({
  domain: z.hostname({ error: 'expected a domain, such as "example.com"' }).describe('The domain that signs (d=).'),
  selector: z
    .string()
    .regex(/^[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,62})$/, { error: 'expected the name of a key, such as "watchpost"' })
    .describe('The name under which the public key is found: <selector>._domainkey.<domain> (s=).'),
  key_file: FilePath.describe('A file with the private key in PEM form.'),
});

const Pool = z.strictObject({
  connections: z.int().min(1).max(20).default(2).describe('How many connections are open at most.'),
  messages: z.int().min(1).max(10_000).default(100).describe('How many mails one connection carries at most.'),
});

/** The key `smtp` of a configuration. */
export const Smtp = z
  .strictObject({
    url: z
      .string({ error: urlHint })
      .refine(isServerUrl, { error: `${urlHint}; the user and the password have keys of their own` })
      .describe('The mail server: smtp://host (port 587, STARTTLS) or smtps://host (port 465, TLS from the start).'),
    username: z.string().min(1).max(256).optional().describe('User to sign in as. Default: no sign-in.'),
    password: z
      .string()
      .min(1)
      .max(1_024)
      .transform((text) => new Secret(text))
      .optional()
      .describe('Its password; better ${ENV} than the text itself.'),
    password_file: FilePath.optional().describe(
      'A file that holds the password; one line end at its end does not count.',
    ),
    from: z
      .string()
      .max(320)
      .regex(mailbox, {
        error: 'expected a sender, such as "alerts@example.com" or "Watchpost <alerts@example.com>"',
      })
      .describe('The sender of all mails.'),
    require_tls: z
      .boolean()
      .default(false)
      .describe(
        'Send nothing without TLS. Always so if there is a password; TLS is used whenever the server offers it.',
      ),
    ca_file: FilePath.optional().describe(
      'A file of PEM certificates to trust for this server besides those of the system.',
    ),
    dkim: Dkim.optional().describe('Sign mails (RFC 6376). Default: they are not signed here.'),
    pool: Pool.optional().describe('Keep connections open between mails. Default: one connection for each mail.'),
  })
  .superRefine((entry, context) => {
    const { username, password, password_file } = entry;
    const say = (key: string, message: string) => context.addIssue({ code: 'custom', path: [key], message });
    const has = password !== undefined || password_file !== undefined;
    refuseBoth(entry, 'password', 'password_file', context);
    if (username === undefined && has) say('username', 'is missing: a password needs one');
    if (username !== undefined && !has) say('password', 'is missing: set password or password_file, or drop username');
  }, always);
export type Smtp = z.output<typeof Smtp>;

/** The mail server with everything that files hold put in. */
export interface SmtpServer {
  readonly host: string;
  readonly port: number;
  /** True for TLS from the first byte, false for STARTTLS. */
  readonly secure: boolean;
  readonly requireTls: boolean;
  readonly signIn: { readonly username: string; readonly password: Secret } | null;
  readonly from: string;
  /** PEM certificates to trust besides those of the system, or null. */
  readonly ca: string | null;
  readonly dkim: { readonly domain: string; readonly selector: string; readonly key: Secret } | null;
  readonly pool: { readonly connections: number; readonly messages: number } | null;
}

/** Puts in what the files hold that the keys ending in `_file` name. */
export function smtpServerOf(smtp: Smtp, files: SecretFiles): SmtpServer {
  const { hostname, port, protocol } = new URL(smtp.url);
  const secure = protocol === 'smtps:';
  const password = smtp.password ?? files['password_file'] ?? null;
  const key = files['dkim.key_file'];
  return {
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? standardPort(secure) : Number(port),
    secure,
    requireTls: smtp.require_tls,
    signIn: smtp.username === undefined || password === null ? null : { username: smtp.username, password },
    from: smtp.from,
    ca: files['ca_file']?.reveal() ?? null,
    dkim:
      smtp.dkim === undefined || key === undefined
        ? null
        : { domain: smtp.dkim.domain, selector: smtp.dkim.selector, key },
    pool: smtp.pool ?? null,
  };
}

// RFC 8314 section 3.3 and RFC 6409 section 3.1.
const standardPort = (secure: boolean) => (secure ? 465 : 587);

function isServerUrl(text: string): boolean {
  return isUrl(text, { protocols: ['smtp:', 'smtps:'], bare: true }) && new URL(text).pathname.length < 2;
}
