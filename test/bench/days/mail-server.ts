import { once } from 'node:events';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { SMTPServer, type SMTPServerSession } from 'smtp-server';
import type { Readable } from 'node:stream';

/** `away` refuses connections, `slow` thinks 20 s about each mail, `picky` knows no mailbox "second", `drops` loses mail and connection. */
export type MailMood = 'there' | 'away' | 'slow' | 'picky' | 'drops';

export interface StoredMail {
  /** When it was accepted, in milliseconds since 1970. */
  readonly at: number;
  readonly recipients: readonly string[];
  readonly raw: string;
}

export interface MailServer extends AsyncDisposable {
  readonly mails: readonly StoredMail[];
  turn(mood: MailMood): Promise<void>;
}

const slowMs = 20_000;

export async function startMailServer(host: string): Promise<MailServer> {
  const mails: StoredMail[] = [];
  const sockets = new Map<number, Socket>();
  let mood: MailMood = 'there';

  async function take(stream: Readable, { remotePort, envelope }: SMTPServerSession): Promise<void> {
    const raw = await text(stream);
    if (mood === 'drops') {
      sockets.get(remotePort)?.destroy();
      return;
    }
    if (mood === 'slow') await sleep(slowMs);
    // A client that gave up meanwhile never heard that its mail was accepted; it is in the mailbox all the same.
    mails.push({ at: Date.now(), recipients: envelope.rcptTo.map(({ address }) => address), raw });
  }

  async function open(): Promise<SMTPServer> {
    const server = new SMTPServer({
      authOptional: true,
      disableReverseLookup: true,
      disabledCommands: ['STARTTLS', 'AUTH'],
      closeTimeout: 50,
      onRcptTo({ address }, _, done) {
        const isUnknown = mood === 'picky' && address.startsWith('second@');
        done(isUnknown ? Object.assign(new Error('5.1.1 no such mailbox'), { responseCode: 550 }) : null);
      },
      onData(stream, session, done) {
        // oxlint-disable-next-line promise/no-callback-in-promise -- the server takes its answer by a callback
        take(stream, session).then(() => done(), done);
      },
    });
    server.on('error', () => {});
    server.server.on('connection', (socket: Socket) => {
      const { remotePort } = socket;
      if (remotePort === undefined) return;
      sockets.set(remotePort, socket);
      socket.once('close', () => sockets.delete(remotePort));
    });
    server.listen(25, host);
    await once(server.server, 'listening');
    return server;
  }

  const close = async (closing: SMTPServer) => new Promise<void>((resolve) => closing.close(resolve));
  let server: SMTPServer | null = await open();
  return {
    mails,
    async turn(next) {
      mood = next;
      if (next === 'away' && server !== null) {
        await close(server);
        server = null;
      }
      if (next !== 'away') server ??= await open();
    },
    async [Symbol.asyncDispose]() {
      if (server !== null) await close(server);
    },
  };
}
