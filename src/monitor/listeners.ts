import { checkOf } from '#checks/index.ts';
import { type Clock, endsWithin } from '#kernel/clock.ts';
import type { Assessor } from './assessment.ts';
import type { Ping } from './heartbeats/hear.ts';
import { createHearing } from './heartbeats/hearing.ts';
import { type PingListener, startListening } from './heartbeats/listen.ts';
import type { HeartbeatState } from './judge/heard.ts';
import type { StoredTarget } from './judge/round-record.ts';
import type { Target } from './judge/target.ts';
import type { Recorder } from './recorder.ts';
import type { RoundHandler } from './rounds.ts';

/** The targets that ping, and their listeners. */
export interface Listeners extends Disposable {
  /** Names of the targets that have pinged. */
  known(): Iterable<string>;
  /** Listens to a target; null if nodes check it. */
  start(target: Target): PingListener | null;
  /** The target is watched in another way from now on, or no more. */
  handOver(name: string, next: Target | null): void;
  /** Takes the call of a target. Resolves to whether it is stored within a few seconds. */
  hear(target: string, beat: Ping): Promise<boolean>;
}

export interface ListenersOptions {
  readonly stored: readonly StoredTarget[];
  readonly rounds: () => Pick<RoundHandler, 'hear'>;
  readonly recorder: Pick<Recorder, 'keep'>;
  readonly assessor: Pick<Assessor, 'connectedSince'>;
  readonly awaited: (target: Target, dueAt: number) => void;
  readonly clock: Clock;
}

const longestStoringMs = 5_000;

export function createListeners(options: ListenersOptions): Listeners {
  const { stored, rounds, recorder, assessor, awaited, clock } = options;
  const heard = new Map<string, HeartbeatState>();
  for (const one of stored) if (one.heard !== null) heard.set(one.target, one.heard);
  const listeners = new Map<string, PingListener>();
  const hearing = createHearing({ clock, connectedSince: () => assessor.connectedSince() });

  return {
    known: () => heard.keys(),
    start(target) {
      const { name } = target;
      const listener = startListening(target, {
        clock,
        heard: heard.get(name) ?? null,
        hearsSince: () => hearing.since(),
        awaited: (dueAt) => awaited(target, dueAt),
        keep: async (known, round) => {
          heard.set(name, known);
          return rounds().hear(target, known, round);
        },
      });
      if (listener !== null) listeners.set(name, listener);
      return listener;
    },
    handOver(target, next) {
      listeners.delete(target);
      const isHeard = next !== null && checkOf(next.spec.type).heard !== null;
      if (isHeard || !heard.delete(target)) return;
      const nothing = { votes: [], states: [], incidents: [], deliveries: [] };
      void recorder.keep({ target, dueAt: clock.now(), ...nothing, heard: null });
    },
    async hear(target, beat) {
      const taken = listeners.get(target)?.take(beat) ?? Promise.resolve(false);
      const ended = taken.then(() => {});
      if (await endsWithin(ended, clock, longestStoringMs)) return taken;
      // Pings meanwhile are not received either.
      hearing.kept(false);
      void ended.then(() => hearing.kept(true));
      return false;
    },
    [Symbol.dispose]: () => hearing[Symbol.dispose](),
  };
}
