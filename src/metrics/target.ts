import type { Register } from './register.ts';
import type { Labels, Sample } from './series.ts';

const targetStates = ['up', 'partial', 'down', 'unknown', 'maintenance'] as const;
export type TargetState = (typeof targetStates)[number];

/** What metrics need to know about a configured target. */
export interface WatchedTarget {
  readonly name: string;
  readonly check: string;
  /** As it is configured; what follows a `?` or `#` is not exported. */
  readonly host: string;
  /** Its own labels, whose names are made of letters, digits and underscores. */
  readonly labels: Labels;
  /** The longest time between two of its rounds, or null where that is not known. */
  readonly intervalSeconds: number | null;
  readonly rules: readonly { readonly name: string; readonly severity: string }[];
}

/** What is known about each target as a whole. */
export interface TargetMetrics {
  /** Whether a target of this name is watched with this check type. */
  watches(target: string, check: string): boolean;
  /** Takes all targets; gives the names of those whose host is another one than before. */
  targetsChanged(targets: readonly WatchedTarget[]): readonly string[];
  record(target: string, state: TargetState, startedAt: number): void;
}

interface TargetSeries {
  readonly check: string;
  readonly host: string;
  readonly states: ReadonlyMap<TargetState, Sample>;
  readonly lastRound: Sample;
  readonly interval: Sample;
  readonly info: Sample;
}

export function createTargetMetrics(register: Register): TargetMetrics {
  const state = register.gauge(
    'watchpost_target_state',
    'The verdict of the last round: 1 for the state it gave, else 0; maintenance stands for any while it lasts.',
  );
  const info = register.gauge('watchpost_target_info', 'Always 1: what is checked, and the labels of the target.');
  const lastRound = register.gauge('watchpost_last_round_timestamp_seconds', 'When the last finished round began.');
  const interval = register.gauge('watchpost_target_interval_seconds', 'The longest time between two rounds.');
  const all = new Map<string, TargetSeries>();

  // The series stay the same ones; only the labels that the info shows are written anew.
  function update(known: TargetSeries | undefined, watched: WatchedTarget): void {
    const { name: target, check, host, labels, intervalSeconds } = watched;
    if (known !== undefined) info.remove(known.info);
    const own = Object.entries(labels).map(([name, value]) => [`label_${name}`, value]);
    const series: TargetSeries = {
      states: known?.states ?? new Map(targetStates.map((name) => [name, state.add({ target, state: name })])),
      lastRound: known?.lastRound ?? lastRound.add({ target }),
      interval: known?.interval ?? interval.add({ target }),
      info: info.add({ target, check, host: shownHost(host), ...Object.fromEntries(own) }),
      check,
      host,
    };
    series.info.value = 1;
    series.interval.value = intervalSeconds;
    if (known === undefined) setState(series, 'unknown');
    all.set(target, series);
  }

  function remove(series: TargetSeries): void {
    for (const sample of series.states.values()) state.remove(sample);
    lastRound.remove(series.lastRound);
    interval.remove(series.interval);
    info.remove(series.info);
  }

  return {
    watches: (target, check) => all.get(target)?.check === check,
    targetsChanged(targets) {
      const names = new Set(targets.map((target) => target.name));
      for (const [name, series] of all) {
        if (names.has(name)) continue;
        remove(series);
        all.delete(name);
      }
      const moved = targets.filter(({ name, host }) => (all.get(name)?.host ?? host) !== host);
      for (const target of targets) update(all.get(target.name), target);
      return moved.map((target) => target.name);
    },
    record(target, verdict, startedAt) {
      const series = all.get(target);
      if (series === undefined) return;
      setState(series, verdict);
      series.lastRound.value = startedAt / 1_000;
    },
  };
}

/** A host as labels show it: what follows a `?` or `#` may be a secret. */
export const shownHost = (host: string) => host.replace(/[?#].*$/s, '');

function setState(series: TargetSeries, current: TargetState): void {
  if (series.states.get(current)?.value === 1) return;
  for (const [name, sample] of series.states) sample.value = name === current ? 1 : 0;
}
