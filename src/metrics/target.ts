import type { Register } from './register.ts';
import { type SeriesLabels, LabelSet, Sample } from './series.ts';

const targetStates = ['up', 'partial', 'down', 'unknown', 'maintenance'] as const;
export type TargetState = (typeof targetStates)[number];

/** What metrics need to know about a configured target. */
export interface ExportedTarget {
  readonly name: string;
  readonly check: string;
  /** As it is configured; what follows a `?` or `#` is not exported. */
  readonly host: string;
  /** Its own labels, whose names are made of letters, digits and underscores. */
  readonly labels: SeriesLabels;
  /** The longest time between two of its rounds, or null if that is not known. */
  readonly intervalSeconds: number | null;
  readonly rules: readonly { readonly name: string; readonly severity: string }[];
}

/** What is known about each target as a whole. */
export interface TargetMetrics {
  /** Whether a target of this name is watched with this check type. */
  watches(target: string, check: string): boolean;
  /** The labels of a target alone, which many series share; null if it is not watched. */
  labelsOf(target: string): LabelSet | null;
  /** Takes all targets; gives the names of those whose host is another one than before. */
  targetsChanged(targets: readonly ExportedTarget[]): readonly string[];
  record(target: string, state: TargetState, startedAt: number): void;
}

// Values only: series are made when they are scraped.
interface TargetSeries {
  readonly check: string;
  readonly host: string;
  readonly labels: LabelSet;
  readonly info: LabelSet;
  readonly intervalSeconds: number | null;
  state: TargetState;
  /** When the last finished round began, in seconds; null before the first. */
  lastRound: number | null;
}

const states = targetStates.map((name) => ({ name, labels: new LabelSet({ state: name }) }));

export function createTargetMetrics(register: Register): TargetMetrics {
  const all = new Map<string, TargetSeries>();

  register.view(
    'watchpost_target_state',
    'The verdict of the last round: 1 for the state it gave, else 0; maintenance stands for any while it lasts.',
    function* series() {
      for (const { labels, state } of all.values())
        for (const one of states) yield new Sample(labels, one.name === state ? 1 : 0, 0, one.labels);
    },
  );
  const infoHelp = 'Always 1: what is checked, and the labels of the target.';
  register.view('watchpost_target_info', infoHelp, function* series() {
    for (const { info } of all.values()) yield new Sample(info, 1, 0);
  });
  const lastHelp = 'When the last finished round began.';
  register.view('watchpost_last_round_timestamp_seconds', lastHelp, function* series() {
    for (const { labels, lastRound } of all.values()) yield new Sample(labels, lastRound, 0);
  });
  const intervalHelp = 'The longest time between two rounds.';
  register.view('watchpost_target_interval_seconds', intervalHelp, function* series() {
    for (const { labels, intervalSeconds } of all.values()) yield new Sample(labels, intervalSeconds, 0);
  });

  function update(known: TargetSeries | undefined, watched: ExportedTarget): void {
    const { name: target, check, host, labels, intervalSeconds } = watched;
    const own = Object.entries(labels).map(([name, value]) => [`label_${name}`, value]);
    all.set(target, {
      check,
      host,
      labels: known?.labels ?? new LabelSet({ target }),
      info: new LabelSet({ target, check, host: shownHost(host), ...Object.fromEntries(own) }),
      intervalSeconds,
      state: known?.state ?? 'unknown',
      lastRound: known?.lastRound ?? null,
    });
  }

  return {
    watches: (target, check) => all.get(target)?.check === check,
    labelsOf: (target) => all.get(target)?.labels ?? null,
    targetsChanged(targets) {
      const names = new Set(targets.map((target) => target.name));
      for (const name of all.keys()) if (!names.has(name)) all.delete(name);
      const moved = targets.filter(({ name, host }) => (all.get(name)?.host ?? host) !== host);
      for (const target of targets) update(all.get(target.name), target);
      return moved.map((target) => target.name);
    },
    record(target, verdict, startedAt) {
      const known = all.get(target);
      if (known === undefined) return;
      known.state = verdict;
      known.lastRound = startedAt / 1_000;
    },
  };
}

/** A host as labels show it: what follows a `?` or `#` may be a secret. */
export const shownHost = (host: string) => host.replace(/[?#].*$/s, '');
