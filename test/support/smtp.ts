import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from 'smtp-server';

/** A mail as a mail server took it. */
export interface ReceivedMail {
  readonly sender: string;
  readonly recipient: string;
  /** True when it came over TLS. */
  readonly secure: boolean;
  readonly user: string | null;
  readonly raw: string;
  readonly mail: Email;
}

/** A real mail server on a port of loopback, which collects what it takes. */
export interface SmtpSink extends AsyncDisposable {
  readonly port: number;
  readonly received: readonly ReceivedMail[];
  /** Resolves with the first `count` mails as soon as they are there. */
  mails(count: number): Promise<readonly ReceivedMail[]>;
  /** Refuses connections from now on; what was received stays. */
  stop(): Promise<void>;
  /** Listens again, on the same port; does nothing where it does already. */
  start(): Promise<void>;
}

export interface SmtpSinkOptions extends Omit<SMTPServerOptions, 'onData'> {
  /** Answers a mail that was sent whole; an error with `responseCode` refuses it, and then it is not received. */
  readonly judge?: (mail: ReceivedMail) => Error | null;
  /** Default: a port of loopback that the system chooses. */
  readonly listen?: { readonly host: string; readonly port: number };
}

/** Without options: no TLS, no login, everything is accepted. */
export async function startSmtp({ judge, listen, ...options }: SmtpSinkOptions = {}): Promise<SmtpSink> {
  const received: ReceivedMail[] = [];
  const waiting = new Set<() => void>();
  let port = listen?.port ?? 0;
  let server: SMTPServer | null = null;
  const ended = new WeakSet<SMTPServer>();

  async function take(stream: Readable, session: SMTPServerSession, by: SMTPServer): Promise<Error | null> {
    const raw = await buffer(stream);
    const { mailFrom, rcptTo } = session.envelope;
    const mail = {
      sender: mailFrom === false ? '' : mailFrom.address,
      recipient: rcptTo.map(({ address }) => address).join(','),
      secure: session.secure,
      user: typeof session.user === 'string' ? session.user : null,
      raw: raw.toString('utf8'),
      mail: await PostalMime.parse(raw),
    };
    // It has said 421 to whoever was still connected.
    if (ended.has(by)) return new Error('the server is gone');
    const refusal = judge?.(mail) ?? null;
    if (refusal !== null) return refusal;
    received.push(mail);
    for (const look of waiting) look();
    return null;
  }

  async function start(): Promise<void> {
    if (server !== null) return;
    const next = new SMTPServer({
      authOptional: true,
      disableReverseLookup: true,
      disabledCommands: options.key === undefined ? ['STARTTLS'] : [],
      closeTimeout: 50,
      ...options,
      onData(stream, session, callback) {
        // oxlint-disable-next-line promise/no-callback-in-promise -- the server takes its answer by a callback
        take(stream, session, next).then(callback, callback);
      },
    });
    next.on('error', () => {});
    server = next;
    const { server: listener } = next;
    next.listen(port, listen?.host ?? '127.0.0.1');
    await once(listener, 'listening');
    port = (listener.address() as AddressInfo).port;
  }

  async function stop(): Promise<void> {
    const stopped = server;
    server = null;
    if (stopped === null) return;
    await new Promise<void>((resolve) => {
      stopped.close(() => {
        ended.add(stopped);
        resolve();
      });
    });
  }

  await start();
  return {
    get port() {
      return port;
    },
    received,
    async mails(count) {
      while (received.length < count) {
        await new Promise<void>((resolve) => {
          const look = () => {
            waiting.delete(look);
            resolve();
          };
          waiting.add(look);
        });
      }
      return received.slice(0, count);
    },
    start,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}
