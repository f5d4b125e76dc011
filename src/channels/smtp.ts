import { Readable } from 'node:stream';
import { createSecureContext, getCACertificates } from 'node:tls';
import { createTransport } from 'nodemailer';
import type SMTPTransport from 'nodemailer/lib/smtp-transport';
import { singleLine } from '#kernel/text.ts';
import type { Channel } from '#monitor/tell/channel.ts';
import { mailOf } from './mail.ts';
import { receiptOf } from './smtp-reply.ts';
import { MailAddress, type SmtpServer } from './smtp-server.ts';
import type { MailTemplate } from './template.ts';

/** The longest that each phase of a session may take, in milliseconds; the whole is up to the signal given to `send`. */
export interface SmtpTimeouts {
  readonly dnsMs: number;
  /** From the name to the end of STARTTLS. */
  readonly connectMs: number;
  readonly greetingMs: number;
  /** The longest silence of the server afterwards. */
  readonly silenceMs: number;
}

const patient: SmtpTimeouts = { dnsMs: 10_000, connectMs: 20_000, greetingMs: 15_000, silenceMs: 30_000 };

export interface SmtpOptions {
  readonly server: SmtpServer;
  readonly template: MailTemplate;
  /** What this machine greets the server with. */
  readonly hostname: string;
  readonly timeouts?: SmtpTimeouts;
}

/** Sends each mail over a connection of its own, which is closed before `send` resolves, or over one of a pool. */
export function createSmtpChannel({ server, template, hostname, timeouts = patient }: SmtpOptions): Channel {
  const { host, port, secure, signIn, dkim, pool } = server;
  const shownAs = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  const closing = new AbortController();
  const handedOver = new Set<string>();
  const ca = server.ca === null ? {} : { ca: [...getCACertificates(), server.ca] };
  const settings: SMTPTransport.Options = {
    host,
    port,
    secure,
    // A login never travels in the clear. Without one, TLS is used where the server offers it, and is verified then too.
    requireTLS: !secure && (signIn !== null || server.requireTls),
    tls: { secureContext: createSecureContext({ minVersion: 'TLSv1.2', ...ca }) },
    ...(signIn === null ? {} : { auth: { user: signIn.username, pass: signIn.password.reveal() }, forceAuth: true }),
    ...(dkim === null
      ? {}
      : { dkim: { domainName: dkim.domain, keySelector: dkim.selector, privateKey: dkim.key.reveal() } }),
    name: hostname,
    dnsTimeout: timeouts.dnsMs,
    connectionTimeout: timeouts.connectMs,
    greetingTimeout: timeouts.greetingMs,
    socketTimeout: timeouts.silenceMs,
    // A server that never closes its side must not keep the connection.
    socketCloseTimeout: 0,
    maxResponseSize: 65_536,
  };
  const transport = pool === null ? createTransport(settings) : createTransport({ ...settings, ...pooled(pool) });
  transport.use('stream', (mail, done) => {
    const id = String(mail.data.messageId);
    mail.message.processFunc((body) => readWhole(body, () => handedOver.add(id)));
    done();
  });

  return {
    name: 'email',
    async send(message, recipient, outer) {
      if (!MailAddress.safeParse(recipient).success) {
        return { kind: 'rejected', reason: `"${singleLine(recipient)}" is not a mail address` };
      }
      const signal = AbortSignal.any([outer, closing.signal]);
      const mail = mailOf(message, template, server.from, recipient);
      try {
        const sent = await transport.sendMail({ ...mail, signal });
        return { kind: 'delivered', response: singleLine(sent.response) };
      } catch (error) {
        return receiptOf(error, { signal, server: shownAs, isHandedOver: handedOver.has(String(mail.messageId)) });
      } finally {
        handedOver.delete(String(mail.messageId));
      }
    },
    renew: null,
    async close() {
      closing.abort(new Error('the mail channel was closed'));
      transport.close();
    },
  };
}

// Nothing of it is read before the server has asked for the mail, and `onEnd` is called once everything was.
function readWhole(body: Readable, onEnd: () => void): Readable {
  async function* pass(): AsyncGenerator {
    yield* body;
    onEnd();
  }
  return Readable.from(pass(), { objectMode: false });
}

// What failed is tried again by the outbox, which knows about it; the pool must not do so behind its back.
function pooled({ connections, messages }: NonNullable<SmtpServer['pool']>) {
  return { pool: true, maxConnections: connections, maxMessages: messages, maxRequeues: 0 } as const;
}
