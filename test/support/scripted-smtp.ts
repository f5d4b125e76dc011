import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

export type SmtpPhase = 'greeting' | 'ehlo' | 'starttls' | 'auth' | 'mail' | 'rcpt' | 'data' | 'dot';

/** What the server does in a phase: says these lines, now or later, says nothing, closes, or breaks the connection. */
export type SmtpStep = readonly string[] | (() => Promise<readonly string[]>) | 'hang' | 'close' | 'reset' | 'trickle';

export interface ScriptedSmtp extends AsyncDisposable {
  readonly port: number;
  /** The commands that came, in order, without their arguments. */
  readonly commands: readonly SmtpPhase[];
  /** The Message-IDs of the mails that came whole. */
  readonly messageIds: readonly string[];
  /** Resolves when a client has reached the phase. */
  reached(phase: SmtpPhase): Promise<void>;
  /** Resolves when no connection is left. */
  idle(): Promise<void>;
}

const polite: Readonly<Record<SmtpPhase, readonly string[]>> = {
  greeting: ['220 scripted'],
  ehlo: ['250-scripted', '250 AUTH PLAIN'],
  starttls: ['502 no'],
  auth: ['235 welcome'],
  mail: ['250 sender ok'],
  rcpt: ['250 recipient ok'],
  data: ['354 go on'],
  dot: ['250 accepted'],
};

const verbs: readonly (readonly [RegExp, SmtpPhase])[] = [
  [/^(?:EHLO|HELO)\b/i, 'ehlo'],
  [/^STARTTLS\b/i, 'starttls'],
  [/^AUTH\b/i, 'auth'],
  [/^MAIL\b/i, 'mail'],
  [/^RCPT\b/i, 'rcpt'],
  [/^DATA\b/i, 'data'],
];

/** A mail server without a mind of its own: it does in each phase what the script says, and is polite otherwise. */
export async function startScriptedSmtp(script: Partial<Record<SmtpPhase, SmtpStep>>): Promise<ScriptedSmtp> {
  const sockets = new Set<Socket>();
  const commands: SmtpPhase[] = [];
  const messageIds: string[] = [];
  const looks = new Set<() => void>();
  const changed = () => {
    for (const look of looks) look();
  };

  function act(socket: Socket, phase: SmtpPhase): void {
    commands.push(phase);
    changed();
    const step = script[phase] ?? polite[phase];
    if (step === 'close') socket.end();
    else if (step === 'reset') socket.resetAndDestroy();
    else if (step === 'trickle') trickle(socket);
    else if (typeof step === 'function') void step().then((lines) => say(socket, lines));
    else if (step !== 'hang') say(socket, step);
  }

  function say(socket: Socket, lines: readonly string[]): void {
    if (socket.writable) socket.write(lines.map((line) => `${line}\r\n`).join(''));
  }

  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => {
      sockets.delete(socket);
      changed();
    });
    let rest = '';
    let isData = false;
    let id = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      const lines = (rest + chunk).split('\r\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        if (isData) {
          id = /^message-id: *(.*)$/i.exec(line)?.[1] ?? id;
          if (line !== '.') continue;
          messageIds.push(id);
          isData = false;
          act(socket, 'dot');
          continue;
        }
        const phase = verbs.find(([pattern]) => pattern.test(line))?.[1];
        if (phase === undefined) continue;
        isData = phase === 'data';
        act(socket, phase);
      }
    });
    act(socket, 'greeting');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  async function until(condition: () => boolean): Promise<void> {
    while (!condition()) {
      await new Promise<void>((resolve) => {
        const look = () => {
          looks.delete(look);
          resolve();
        };
        looks.add(look);
      });
    }
  }

  return {
    port: (server.address() as AddressInfo).port,
    commands,
    messageIds,
    reached: async (phase) => until(() => commands.includes(phase)),
    idle: async () => until(() => sockets.size === 0),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

// A reply that never ends, one byte at a time: no silence is ever long enough to notice it.
function trickle(socket: Socket): void {
  const timer = setInterval(() => socket.write('2'), 5);
  socket.once('close', () => clearInterval(timer));
}
