import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { createInterface } from 'node:readline';
import { mortal } from './children.ts';

/** A network namespace of its own, with everything that was started in it ended when it is disposed. */
export interface NetworkNamespace extends AsyncDisposable {
  readonly name: string;
  /** Runs a short command in it and gives its output. */
  run(command: readonly string[]): string;
  /** Starts a program in it: standard input and output are pipes, errors go where ours go unless it is to be quiet. */
  start(command: readonly string[], options?: { readonly quiet?: boolean }): ChildProcess;
  /** Starts the reflector in it and waits until it answers. `prefix` is a command that runs it, `chrt` for instance. */
  reflect(prefix?: readonly string[]): Promise<void>;
}

/** Why namespaces cannot be made here, or null where they can. */
export function namespaceObstacle(): string | null {
  if (process.getuid?.() !== 0) return 'network namespaces take root';
  for (const command of [
    ['ip', '-Version'],
    ['python3', '--version'],
    ['test', '-c', '/dev/net/tun'],
  ]) {
    try {
      execFileSync(command[0] ?? '', command.slice(1), { stdio: 'ignore' });
    } catch {
      return `this takes "${command.join(' ')}" to succeed`;
    }
  }
  return null;
}

let count = 0;

export function createNetworkNamespace(): NetworkNamespace {
  count += 1;
  const name = `wp-${process.pid}-${count}`;
  execFileSync('ip', ['netns', 'add', name]);
  const children: ChildProcess[] = [];
  const inside = (command: readonly string[]) => ['netns', 'exec', name, ...command];

  function start(command: readonly string[], options: { readonly quiet?: boolean } = {}): ChildProcess {
    const child = mortal(
      spawn('ip', inside(command), {
        stdio: ['pipe', 'pipe', options.quiet === true ? 'ignore' : 'inherit'],
      }),
    );
    children.push(child);
    return child;
  }

  return {
    name,
    run: (command) => execFileSync('ip', inside(command), { encoding: 'utf8' }),
    start,
    async reflect(prefix = []) {
      const child = start([...prefix, 'python3', fileURLToPath(new URL('reflector.py', import.meta.url))]);
      if (child.stdout === null) throw new Error('the reflector has no output');
      for await (const line of createInterface({ input: child.stdout })) if (line === 'ready') return;
      throw new Error('the reflector ended before it was ready');
    },
    async [Symbol.asyncDispose]() {
      for (const child of children) {
        if (child.exitCode !== null || child.signalCode !== null) continue;
        const exited = once(child, 'exit');
        child.kill('SIGKILL');
        await exited;
      }
      execFileSync('ip', ['netns', 'del', name]);
    },
  };
}
