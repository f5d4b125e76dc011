import { once } from 'node:events';
import { SMTPServer } from 'smtp-server';

/** A mail server that is there for a minute, refuses everything for half a minute, and is gone for half a minute. */
export interface UnsteadyMail extends AsyncDisposable {
  readonly port: number;
  readonly taken: number;
  readonly refused: number;
}

const phases = [
  { name: 'there', ms: 60_000 },
  { name: 'refusing', ms: 30_000 },
  { name: 'gone', ms: 30_000 },
] as const;

export async function startUnsteadyMail(): Promise<UnsteadyMail> {
  let [taken, refused, phase, port] = [0, 0, 0, 0];
  let server = await open(0);
  const bound = server.server.address();
  port = typeof bound === 'object' && bound !== null ? bound.port : 0;
  let timer = setTimeout(next, phases[0].ms);

  async function open(at: number): Promise<SMTPServer> {
    const made = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS', 'AUTH'],
      onData(stream, _, done) {
        stream.resume();
        stream.once('end', () => {
          const isRefused = phases[phase]?.name === 'refusing';
          if (isRefused) refused += 1;
          else taken += 1;
          done(isRefused ? Object.assign(new Error('4.3.0 come back later'), { responseCode: 451 }) : null);
        });
      },
    });
    made.on('error', () => {});
    made.listen(at, '127.0.0.1');
    await once(made.server, 'listening');
    return made;
  }

  function next(): void {
    phase = (phase + 1) % phases.length;
    const { name, ms } = phases[phase] ?? phases[0];
    timer = setTimeout(next, ms);
    if (name === 'gone') server.close();
    if (name === 'there') void open(port).then((opened) => (server = opened));
  }

  return {
    port,
    get taken() {
      return taken;
    },
    get refused() {
      return refused;
    },
    async [Symbol.asyncDispose]() {
      clearTimeout(timer);
      await new Promise<void>((resolve) => server.close(resolve));
    },
  };
}
