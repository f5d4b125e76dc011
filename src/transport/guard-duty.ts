import type { StopGuard } from '#kernel/stop-watch.ts';
import type { AgentOptions } from '#node/ports.ts';

/** The part of a node's thread in the guard of the stop. */
export interface GuardDuty {
  /** What the thread gets to guard, or undefined if it is not to. */
  readonly shared: SharedArrayBuffer | undefined;
  /** The thread guards from now on. */
  begin(): void;
  /** It is lost, or about to go. */
  end(): void;
}

/** A node with plugins has none: a program may be on the disk that hangs, and its start would hold up the thread as well. */
export function createGuardDuty({ plugins = {} }: AgentOptions, guard: StopGuard | null): GuardDuty {
  const mayGuard = Object.keys(plugins).length === 0;
  let relief: Disposable | null = null;
  return {
    shared: mayGuard ? guard?.shared : undefined,
    begin() {
      if (mayGuard) relief ??= guard?.relieve() ?? null;
    },
    end() {
      relief?.[Symbol.dispose]();
      relief = null;
    },
  };
}
