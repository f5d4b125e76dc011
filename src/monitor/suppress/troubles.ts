import type { Clock } from '#kernel/clock.ts';
import { onTick } from '#kernel/ticks.ts';
import type { Trouble } from './own-incident-kinds.ts';

/** Something of our own that may not work. */
export interface TroubleSource extends Pick<Trouble, 'name'> {
  /** Which of its kind it is; null if there is none, as after a reload that took it out. */
  readonly which: () => string | null;
  /** Why it does not work at the moment, or null. */
  readonly reason: () => string | null;
  /** For how long it must have failed, or worked again, before the notification. */
  readonly afterMs: number;
  readonly overMs: number;
  /** How long `reason` goes on after the trouble is over, so that its end can be dated. Default: not at all. */
  readonly lingersMs?: number;
}

export interface TroublesOptions {
  /** Asked at each look: a source that is left out is watched no more, and what was reported of it is over. */
  readonly sources: () => readonly TroubleSource[];
  readonly clock: Clock;
  /** Whether a failure was notified before the start. */
  readonly wasReported: (name: Trouble['name']) => boolean;
  readonly report: (trouble: Trouble) => void;
}

// Beginnings and ends are dated by this.
const lookEveryMs = 1_000;

/** Looks every second at what is our own, and tells what has not worked for a while once, and once that it works again. */
export function watchTroubles({ sources, clock, wasReported, report }: TroublesOptions): Disposable {
  const watched = new Map<Trouble['name'], TroubleWatch>();
  let timer = onTick(clock, lookEveryMs, look);

  function look(): void {
    timer = onTick(clock, lookEveryMs, look);
    const current = sources();
    for (const [name, watch] of watched) {
      if (current.some((source) => source.name === name)) continue;
      watched.delete(name);
      const change = watch.endTrouble();
      if (change !== null) report({ name, which: '', ...change });
    }
    for (const source of current) {
      const which = source.which();
      const watch = watched.get(source.name) ?? createLasting(source, clock, wasReported(source.name));
      watched.set(source.name, watch);
      const change = which === null ? watch.endTrouble() : watch.look(source.reason());
      if (change !== null) report({ name: source.name, which: which ?? '', ...change });
    }
  }

  return { [Symbol.dispose]: () => timer[Symbol.dispose]() };
}

type TroubleChange = Pick<Trouble, 'since' | 'reason' | 'isGone'>;

type TroubleWatch = ReturnType<typeof createLasting>;

function createLasting({ afterMs, overMs, lingersMs = 0 }: TroubleSource, clock: Clock, wasReported: boolean) {
  let isReported = wasReported;
  let changing: { readonly at: number; readonly began: number } | null = null;

  function endTrouble(): TroubleChange | null {
    changing = null;
    if (!isReported) return null;
    isReported = false;
    return { since: clock.now(), reason: null, isGone: true };
  }

  function look(reason: string | null): TroubleChange | null {
    if ((reason !== null) === isReported) {
      changing = null;
      return null;
    }
    changing ??= { at: clock.now(), began: clock.elapsed() };
    if (clock.elapsed() - changing.began < (isReported ? overMs : afterMs)) return null;
    const at = reason === null ? changing.at - lingersMs : changing.at;
    changing = null;
    isReported = reason !== null;
    return { since: at, reason };
  }

  return { endTrouble, look };
}
