import type { ChildProcess } from 'node:child_process';

const alive = new Set<ChildProcess>();
process.once('exit', () => killChildren());

/** Sees to it that a child process does not outlive the tests of its file, however they end: one that times out cleans up nothing. */
export function mortal<Child extends ChildProcess>(child: Child): Child {
  alive.add(child);
  child.once('exit', () => alive.delete(child));
  return child;
}

/** Called when the tests of a file are over: what is left then was left behind. */
export function killChildren(): void {
  for (const child of alive) child.kill('SIGKILL');
  alive.clear();
}
