import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { mortal } from './children.ts';

/** The thread of a process that has this name, by its id. */
export function threadNamed(name: string, pid = process.pid): number {
  const tasks = `/proc/${pid}/task`;
  const found = readdirSync(tasks).filter((id) => nameOf(`${tasks}/${id}`) === name);
  if (found.length !== 1) throw new Error(`${found.length} threads are named ${name}`);
  return Number(found[0]);
}

// It may have ended meanwhile.
function nameOf(task: string): string | null {
  try {
    return readFileSync(`${task}/comm`, 'utf8').trim();
  } catch {
    return null;
  }
}

// Whatever becomes of the test, none computes for longer.
const mostSeconds = 20;
const busy = `ulimit -t ${mostSeconds}; while :; do :; done`;

/**
 * Leaves a thread a part of one processor, until it is disposed: it shares that with so many programs that compute and do nothing else.
 * All other threads of its process have the other processors.
 */
export function crowd(thread: number, programs: number): AsyncDisposable {
  const all = /^Cpus_allowed_list:\s*(?<list>\S+)$/m.exec(readFileSync(`/proc/${thread}/status`, 'utf8'))?.groups?.[
    'list'
  ];
  const [one] = /\d+/.exec(all ?? '') ?? [];
  if (all === undefined || one === undefined) throw new Error('no processor is allowed');
  const pin = (to: string) => execFileSync('taskset', ['--cpu-list', '--pid', to, String(thread)], { stdio: 'ignore' });
  pin(one);
  const children = Array.from({ length: programs }, () =>
    mortal(spawn('taskset', ['--cpu-list', one, 'sh', '-c', busy], { stdio: 'ignore' })),
  );
  return {
    async [Symbol.asyncDispose]() {
      await Promise.all(children.map(async (child) => end(child)));
      pin(all);
    },
  };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}
