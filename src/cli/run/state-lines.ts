import type { Clock } from '#kernel/clock.ts';
import { singleLine } from '#kernel/text.ts';
import { describeDuration } from '#kernel/units.ts';
import type { StateColor } from '../shared/paint.ts';
import type { TopState } from '../top/top-screen.ts';

/** What a daemon sees of its targets, and when that changes. */
export interface StateSource {
  states(version: number): { readonly version: number; readonly states: readonly TopState[] };
  onChange(listener: () => void): Disposable;
}

// Changes of a moment are printed together.
const togetherMs = 200;
// Of more targets than this, those that are up are not printed one by one at the start.
const fewTargets = 20;

/** Prints a line for each change of a target's state, and once how each is at first. */
export function printStateChanges(
  seen: StateSource,
  print: (line: string) => void,
  paint: StateColor,
  clock: Clock,
): Disposable {
  const known = new Map<string, { readonly status: TopState['status']; readonly since: number }>();
  let version = 0;
  let timer: Disposable | null = null;

  function look(): void {
    timer = null;
    const next = seen.states(version);
    ({ version } = next);
    const isMany = next.states.length > fewTargets;
    // A target without a round has no state to print.
    for (const state of next.states.filter(({ nodes }) => nodes > 0)) {
      const before = known.get(state.target);
      if (before?.status === state.status) continue;
      known.set(state.target, { status: state.status, since: clock.now() });
      if (before === undefined && isMany && state.status === 'up') continue;
      const held =
        before === undefined ? '' : `, was ${before.status} for ${describeDuration(clock.now() - before.since)}`;
      print(`${timeOf(clock.now())}  ${sentenceOf(state, paint)}${held}\n`);
    }
  }

  const watching = seen.onChange(() => (timer ??= clock.after(togetherMs, look)));
  return {
    [Symbol.dispose]() {
      watching[Symbol.dispose]();
      timer?.[Symbol.dispose]();
    },
  };
}

function sentenceOf({ target, status, cause, up, nodes }: TopState, paint: StateColor): string {
  const word = status === 'maintenance' ? 'in maintenance' : status === 'partial' ? 'partly up' : status;
  const seen = nodes > 1 && status !== 'up' ? ` (up for ${up} of ${nodes} nodes)` : '';
  const why = status === 'up' || cause === null ? '' : `: ${singleLine(cause, 120)}`;
  return `${target} is ${paint(status, word)}${seen}${why}`;
}

function timeOf(at: number): string {
  return new Date(at).toLocaleTimeString('en-GB');
}
