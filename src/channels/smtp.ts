import { Readable } from 'node:stream';
import { createSecureContext, getCACertificates } from 'node:tls';
import type { SendMailOptions } from 'nodemailer';
import type SMTPTransport from 'nodemailer/lib/smtp-transport';
import type { Clock } from '#kernel/clock.ts';
import { singleLine } from '#kernel/text.ts';
import type { Channel, DeliveryReceipt } from '#monitor/notify/channel.ts';
import { handOverOnce, type Handover } from './hand-over.ts';
import { mailOf } from './mail.ts';
import { receiptOf } from './smtp-reply.ts';
import { MailAddress, type SmtpServer } from './smtp-server.ts';
import type { MailTemplate } from './template.ts';

/** The longest that each phase of a session may take, in milliseconds; the whole is up to the signal given to `send`. */
export interface SmtpTimeouts {
  readonly dnsMs: number;
  /** From the name to the end of STARTTLS, the greeting included. */
  readonly connectMs: number;
  readonly greetingMs: number;
  /** The longest silence of the server afterwards. */
  readonly silenceMs: number;
  /** After this without a request for the mail, another connection tries as well; it is replaced as often. */
  readonly otherMs: number;
}

// RFC 5321 section 4.5.3.2: 5 min for the greeting and for most replies, 10 min for the one after the final dot.
export const smtpTimeouts: SmtpTimeouts = {
  dnsMs: 10_000,
  connectMs: 310_000,
  greetingMs: 300_000,
  silenceMs: 600_000,
  otherMs: 60_000,
};
// Greeting, EHLO, AUTH, MAIL and RCPT at 5 min, DATA at 2 min, the final dot at 10 min, and the mail itself.
const attemptMs = 40 * 60_000;

export interface SmtpOptions {
  readonly server: SmtpServer;
  readonly template: MailTemplate;
  /** What this machine greets the server with. */
  readonly hostname: string;
  readonly clock: Clock;
  readonly timeouts?: SmtpTimeouts;
}

/** Sends each mail over a connection of its own, which is closed before `send` resolves, or over one of a pool. */
export function createSmtpChannel({
  server,
  template,
  hostname,
  clock,
  timeouts = smtpTimeouts,
}: SmtpOptions): Channel {
  const shownAs = shownServer(server);
  const closing = new AbortController();
  const settings = settingsOf(server, hostname, timeouts);
  const handovers = new Map<string, Handover>();
  const { pool } = server;
  let usual: ReturnType<typeof openUsual> | null = null;

  // Loaded by the first mail: it is large, and most of the time there is none.
  async function openUsual() {
    const { createTransport } = await import('nodemailer');
    const transport = pool === null ? createTransport(settings) : createTransport({ ...settings, ...pooled(pool) });
    transport.use('stream', (mail, done) => {
      const handover = handovers.get(String(mail.data.messageId));
      if (handover !== undefined) mail.message.processFunc((body) => readWhole(body, handover));
      done();
    });
    return transport;
  }

  async function overUsual(mail: SendMailOptions, handover: Handover, signal: AbortSignal): Promise<string> {
    const id = String(mail.messageId);
    handovers.set(id, handover);
    try {
      const transport = await (usual ??= openUsual());
      return (await transport.sendMail({ ...mail, signal })).response;
    } finally {
      handovers.delete(id);
    }
  }

  return {
    name: 'email',
    attemptMs,
    async send(message, recipient, outer) {
      if (!MailAddress.safeParse(recipient).success) {
        return { kind: 'rejected', reason: `"${singleLine(recipient)}" is not a mail address` };
      }
      const signal = AbortSignal.any([outer, closing.signal]);
      const mail = mailOf(message, template, server.from, recipient);
      return handOverOnce({
        clock,
        signal,
        otherMs: timeouts.otherMs,
        async attempt(number, handover, own) {
          try {
            const response =
              number === 0
                ? await overUsual(mail, handover, own)
                : await overNew(settings, mail, { handover, signal: own });
            return { kind: 'delivered', response: singleLine(response) };
          } catch (error) {
            return receiptOf(error, { signal, server: shownAs, isHandedOver: handover.isWhole });
          }
        },
      });
    },
    renew: null,
    async close() {
      closing.abort(new Error('the mail channel is closed'));
      (await usual)?.close();
    },
  };
}

interface NewConnection {
  readonly handover: Handover;
  readonly signal: AbortSignal;
}

async function overNew(
  settings: SMTPTransport.Options,
  mail: SendMailOptions,
  { handover, signal }: NewConnection,
): Promise<string> {
  const { createTransport } = await import('nodemailer');
  const transport = createTransport(settings);
  transport.use('stream', ({ message }, done) => {
    message.processFunc((body) => readWhole(body, handover));
    done();
  });
  try {
    return (await transport.sendMail({ ...mail, signal })).response;
  } finally {
    transport.close();
  }
}

/** Sends one mail that is no message about incidents over a connection of its own. Never rejects. */
export async function sendPlainMail(
  mail: SendMailOptions,
  {
    server,
    hostname,
    clock,
    signal,
  }: Pick<SmtpOptions, 'server' | 'hostname' | 'clock'> & { readonly signal: AbortSignal },
): Promise<DeliveryReceipt> {
  const settings = settingsOf(server, hostname, smtpTimeouts);
  return handOverOnce({
    clock,
    signal,
    otherMs: smtpTimeouts.otherMs,
    async attempt(_number, handover, own) {
      try {
        return { kind: 'delivered', response: singleLine(await overNew(settings, mail, { handover, signal: own })) };
      } catch (error) {
        return receiptOf(error, { signal, server: shownServer(server), isHandedOver: handover.isWhole });
      }
    },
  });
}

const shownServer = ({ host, port }: SmtpServer) => `${host.includes(':') ? `[${host}]` : host}:${port}`;

function settingsOf(server: SmtpServer, name: string, timeouts: SmtpTimeouts): SMTPTransport.Options {
  const { host, port, secure, signIn, dkim } = server;
  const ca = server.ca === null ? {} : { ca: [...getCACertificates(), server.ca] };
  return {
    host,
    port,
    secure,
    // A login never travels in the clear. Without one, TLS is used if the server offers it, and is verified then too.
    requireTLS: !secure && (signIn !== null || server.requireTls),
    tls: { secureContext: createSecureContext({ minVersion: 'TLSv1.2', ...ca }) },
    ...(signIn === null ? {} : { auth: { user: signIn.username, pass: signIn.password.reveal() }, forceAuth: true }),
    ...(dkim === null
      ? {}
      : { dkim: { domainName: dkim.domain, keySelector: dkim.selector, privateKey: dkim.key.reveal() } }),
    name,
    dnsTimeout: timeouts.dnsMs,
    connectionTimeout: timeouts.connectMs,
    greetingTimeout: timeouts.greetingMs,
    socketTimeout: timeouts.silenceMs,
    // A server that never closes its side must not keep the connection.
    socketCloseTimeout: 0,
    maxResponseSize: 65_536,
  };
}

// Nothing of it is read before the server has asked for the mail, and it is whole once everything was.
function readWhole(body: Readable, handover: Handover): Readable {
  async function* pass(): AsyncGenerator {
    handover.begin();
    yield* body;
    handover.end();
  }
  return Readable.from(pass(), { objectMode: false });
}

// What failed is tried again by the outbox, which knows about it; the pool must not do so behind its back.
function pooled({ connections, messages }: NonNullable<SmtpServer['pool']>) {
  return { pool: true, maxConnections: connections, maxMessages: messages, maxRequeues: 0 } as const;
}
