import type { Config } from '#config/config.ts';
import { createReader } from '#history/create-reader.ts';
import type { HistoryReader, HistoryTarget } from '#history/reader.ts';
import type { HistorySource } from '#history/source.ts';
import { addTime, noTime, uptimeOf } from '#history/verdict-periods.ts';
import { startChore } from '#kernel/chore.ts';
import type { Clock } from '#kernel/clock.ts';
import type { Log } from '#kernel/log.ts';
import type { SummaryStore } from '#monitor/notify/summary-facts.ts';
import { openForReading } from '#store/reading.ts';
import type { Store } from '#store/sqlite.ts';

/** What pages, commands, mails and metrics read history through; the targets are those of the configuration in force. */
export function openReader(source: HistorySource, inForce: () => Pick<Config, 'targets'>, clock: Clock): HistoryReader {
  return createReader({ source, targets: () => inForce().targets.map(knownOf), clock });
}

/** The history in the file of a configuration, with a daemon beside it or without. */
export function openPast(
  config: Pick<Config, 'data' | 'targets'>,
  clock: Clock,
): { readonly reader: HistoryReader } & Disposable {
  const past = openForReading(config.data);
  return { reader: openReader(past.source, () => config, clock), [Symbol.dispose]: () => past[Symbol.dispose]() };
}

/** How things went, out of what is kept of the past. */
export function summariesOf(history: HistoryReader, store: Pick<Store, 'incidentsBetween'>): SummaryStore {
  return {
    async summarise(from, to) {
      const [targets, kept] = await Promise.all([history.byTarget({ from, to }), history.kept()]);
      return {
        from,
        to,
        knownFrom: Math.min(kept.daysFrom, kept.hoursFrom, kept.resultsFrom),
        uptime: targets.some(({ verdictsFrom }) => verdictsFrom !== null)
          ? null
          : uptimeOf(targets.reduce((sum, { time }) => (time === null ? sum : addTime(sum, time)), noTime)),
        targets: targets.map(({ target, answers: { up, down, unknown }, uptime, latency, budget }) => ({
          target,
          up,
          down,
          unknown,
          uptime,
          p95Seconds: latency?.p95 ?? null,
          meanSeconds: latency?.mean ?? null,
          longestSeconds: latency?.max ?? null,
          budget,
        })),
        incidents: store.incidentsBetween(from, to),
      };
    },
  };
}

const pauseMs = 20;
const behindMs = 3 * 3_600_000;
const logEveryMs = 30_000;

export interface UpkeepDependencies {
  /** Told how long each piece took, in seconds. */
  readonly onDone: (seconds: number) => void;
  /** Told when rounds of a file of an earlier version have got their verdicts: uptime is known further back from then on. */
  readonly onJudged: () => void;
  readonly clock: Clock;
  readonly log: Log;
}

/** Seals and deletes in short pieces while everything else goes on, and logs its progress if there is much to do. */
export function startUpkeep(
  store: Pick<Store, 'upkeep' | 'upkeepProgress'>,
  { onDone, onJudged, clock, log }: UpkeepDependencies,
): Disposable {
  const sealing = createProgressLog(clock);
  const judging = createProgressLog(clock);
  let judged = 0;

  function reportProgress(): void {
    const { oldestUnsealed, targetsUnjudged, periodsMade } = store.upkeepProgress();
    const behind = oldestUnsealed === null ? 0 : clock.now() - oldestUnsealed;
    sealing.reportProgress(oldestUnsealed !== null && behind >= behindMs, {
      goesOn() {
        const from = new Date(oldestUnsealed ?? 0).toISOString();
        log.info({ from, hoursLeft: Math.floor(behind / 3_600_000) }, 'sealing older results');
      },
      isOver: () => log.info('all older results are sealed'),
    });
    judging.reportProgress(targetsUnjudged > 0 && periodsMade > judged, {
      goesOn: () => log.info({ targetsLeft: targetsUnjudged }, 'computing verdicts of older rounds'),
      isOver() {
        judged = periodsMade;
        log.info({ periods: periodsMade }, 'computed the verdicts of all older rounds');
        onJudged();
      },
    });
  }

  function step(): boolean {
    const startedAt = clock.elapsed();
    const worked = store.upkeep();
    if (worked) onDone((clock.elapsed() - startedAt) / 1_000);
    reportProgress();
    return worked;
  }

  return startChore({ step, trouble: 'history was not kept up', pauseMs, clock, log });
}

/** Tells at once that something goes on, then every half minute, and when it is over. */
function createProgressLog(clock: Clock) {
  let loggedAt: number | null = null;
  return {
    reportProgress(
      isBusy: boolean,
      { goesOn, isOver }: { readonly goesOn: () => void; readonly isOver: () => void },
    ): void {
      if (!isBusy) {
        if (loggedAt !== null) isOver();
        loggedAt = null;
      } else if (loggedAt === null || clock.elapsed() - loggedAt >= logEveryMs) {
        loggedAt = clock.elapsed();
        goesOn();
      }
    },
  };
}

function knownOf({ name, spec, labels, objective }: Config['targets'][number]): HistoryTarget {
  return { name, check: spec.type, host: spec.host, labels, objective };
}

/** How long things are kept, as the configuration in force says at the time. */
export function retentionIn(inForce: () => Pick<Config, 'retention'>): Config['retention'] {
  return {
    get rawMs() {
      return inForce().retention.rawMs;
    },
    get hoursMs() {
      return inForce().retention.hoursMs;
    },
    get daysMs() {
      return inForce().retention.daysMs;
    },
    get verdictsMs() {
      return inForce().retention.verdictsMs;
    },
    get incidentsMs() {
      return inForce().retention.incidentsMs;
    },
    get checksMs() {
      return inForce().retention.checksMs;
    },
  };
}
