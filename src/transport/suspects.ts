import type { Clock } from '#kernel/clock.ts';
import type { Log } from '#kernel/log.ts';
import { dayMs, formatDuration } from '#kernel/units.ts';
import type { NodeCommand } from '#service/ports.ts';

/** Finds the check that ends threads: what was under way at two losses, and never came to an end in between. */
export interface CrashSuspects {
  /** Why a check is not run for now, or null. */
  refusal(command: Pick<NodeCommand, 'spec'>): string | null;
  /** Whether no check is under suspicion. */
  readonly areNone: boolean;
  /** A check came to an end: it does not end threads, unless it was not run at all. */
  cleared(command: Pick<NodeCommand, 'spec'>): void;
  /** The checks of one thread, from its start to its loss. */
  watch(): CrashWatch;
}

export interface CrashWatch {
  began(id: number, command: NodeCommand): void;
  /** The thread has answered: this check does not hold it up. */
  ended(id: number): void;
  /** Cancelled; whether the thread still runs it, it has not said. */
  aborted(id: number): void;
  /** The thread has spoken of itself: what was aborted before does not hold it up. */
  spoke(): void;
  /** The thread is lost, and what was under way with it, this besides. */
  lost(besides: readonly Pick<NodeCommand, 'spec'>[]): void;
}

const asideMs = 600_000;
const longestAsideMs = dayMs;
const lossesToAct = 2;

interface SuspectRecord {
  losses: number;
  until: number;
}

export function createSuspects(clock: Clock, log: Log): CrashSuspects {
  const records = new Map<string, SuspectRecord>();

  function recordSuspect(command: Pick<NodeCommand, 'spec'>): void {
    const key = keyOf(command);
    const record = records.get(key) ?? { losses: 0, until: 0 };
    record.losses += 1;
    records.set(key, record);
    if (record.losses < lossesToAct) return;
    const ms = Math.min(asideMs * 2 ** (record.losses - lossesToAct), longestAsideMs);
    record.until = clock.elapsed() + ms;
    const { type, host } = command.spec;
    log.error({ check: type, host, losses: record.losses, ms }, 'check suspended: nodes crash while they run it');
  }

  function refusal(command: Pick<NodeCommand, 'spec'>): string | null {
    if (records.size === 0) return null;
    const { losses = 0, until = 0 } = records.get(keyOf(command)) ?? {};
    if (until <= clock.elapsed()) return null;
    const left = formatDuration(Math.ceil((until - clock.elapsed()) / 1_000) * 1_000);
    return `this check is put aside for ${left}: the node was lost ${losses} times while it ran`;
  }

  return {
    refusal,
    get areNone() {
      return records.size === 0;
    },
    cleared(command) {
      if (records.size > 0 && refusal(command) === null) records.delete(keyOf(command));
    },
    watch() {
      const running = new Map<number, NodeCommand>();
      const given = new Set<number>();
      return {
        began: (id, command) => void running.set(id, command),
        ended(id) {
          const command = running.get(id);
          running.delete(id);
          given.delete(id);
          if (command !== undefined && records.size > 0) records.delete(keyOf(command));
        },
        aborted: (id) => void given.add(id),
        spoke() {
          for (const id of given) running.delete(id);
          given.clear();
        },
        lost(besides) {
          const keys = new Map([...running.values(), ...besides].map((command) => [keyOf(command), command]));
          for (const command of keys.values()) recordSuspect(command);
          running.clear();
          given.clear();
        },
      };
    },
  };
}

function keyOf({ spec }: Pick<NodeCommand, 'spec'>): string {
  return JSON.stringify(spec);
}
