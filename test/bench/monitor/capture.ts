import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

const line = /^(\d+\.\d+) IP \S+ > (\d+\.\d+\.\d+\.\d+)\.\d+: /;

/**
 * Has the kernel's stamps of the packets that begin connections to these ports: without the time until a process that listens is
 * woken up and comes to it. False where tcpdump is not there, or may not.
 */
export async function capture(
  ports: readonly number[],
  note: (address: string, atMs: number) => void,
): Promise<boolean> {
  const filter = `(${ports.map((port) => `dst port ${port}`).join(' or ')}) and tcp[tcpflags] & (tcp-syn|tcp-ack) == tcp-syn`;
  const child = spawn('tcpdump', ['-i', 'lo', '-n', '-tt', '--time-stamp-precision=nano', '-l', filter], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  process.once('exit', () => child.kill());
  createInterface(child.stdout).on('line', (text) => {
    const [, seconds, address] = line.exec(text) ?? [];
    if (address !== undefined) note(address, Number(seconds) * 1_000);
  });
  return listens(child, child.stderr);
}

async function listens(child: ChildProcess, stderr: NodeJS.ReadableStream): Promise<boolean> {
  const failed = Promise.race([once(child, 'error'), once(child, 'exit')]).then(
    () => false,
    () => false,
  );
  const said = (async () => {
    for await (const text of createInterface(stderr)) if (text.startsWith('listening on')) return true;
    return failed;
  })();
  return Promise.race([said, failed]);
}
