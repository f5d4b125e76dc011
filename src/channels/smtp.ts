import { createTransport } from 'nodemailer';
import { createSecureContext, getCACertificates } from 'node:tls';
import { singleLine } from '#kernel/text.ts';
import type { Channel } from '#monitor/ports.ts';
import { mailOf } from './mail.ts';
import { receiptOf } from './smtp-reply.ts';
import { MailAddress, type SmtpServer } from './smtp-server.ts';

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
  /** What this machine greets the server with. */
  readonly hostname: string;
  readonly timeouts?: SmtpTimeouts;
}

/** Sends each mail over a connection of its own, which is closed before `send` resolves. */
export function createSmtpChannel({ server, hostname, timeouts = patient }: SmtpOptions): Channel {
  const { hostname: host, port, protocol } = new URL(server.url);
  const isSecure = protocol === 'smtps:';
  const hasLogin = server.username !== undefined && server.password !== undefined;
  const shownAs = port === '' ? host : `${host}:${port}`;
  const closing = new AbortController();
  const ca = server.ca === undefined ? {} : { ca: [...getCACertificates(), server.ca] };
  const transport = createTransport({
    host: host.replaceAll(/[[\]]/g, ''),
    port: port === '' ? (isSecure ? 465 : 587) : Number(port),
    secure: isSecure,
    // A login never travels in the clear. Without one, TLS is used where the server offers it, and is verified then too.
    requireTLS: !isSecure && (hasLogin || server.require_tls),
    tls: { secureContext: createSecureContext({ minVersion: 'TLSv1.2', ...ca }) },
    ...(hasLogin ? { auth: { user: server.username, pass: server.password }, forceAuth: true } : {}),
    name: hostname,
    dnsTimeout: timeouts.dnsMs,
    connectionTimeout: timeouts.connectMs,
    greetingTimeout: timeouts.greetingMs,
    socketTimeout: timeouts.silenceMs,
    // A server that never closes its side must not keep the connection.
    socketCloseTimeout: 0,
    maxResponseSize: 65_536,
  });

  return {
    name: 'email',
    async send(message, recipient, outer) {
      if (!MailAddress.safeParse(recipient).success) {
        return { kind: 'rejected', reason: `"${singleLine(recipient)}" is not a mail address` };
      }
      const signal = AbortSignal.any([outer, closing.signal]);
      try {
        const sent = await transport.sendMail({ ...mailOf(message, server.from, recipient), signal });
        return { kind: 'delivered', response: singleLine(sent.response) };
      } catch (error) {
        return receiptOf(error, signal, shownAs);
      }
    },
    async close() {
      closing.abort(new Error('the mail channel was closed'));
      transport.close();
    },
  };
}
