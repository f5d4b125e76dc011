import type { Exclusion } from './exclusions.ts';
import type { IncidentDetail, PastIncident } from './incidents.ts';
import type { PastFailure } from './source.ts';
import type { TimeSpan } from './span.ts';
import type { TargetStatus, TimeByStatus, VerdictSpan } from './verdict-periods.ts';
import type { Latency, OutcomeCounts } from './tally.ts';

// Pages, commands, the API, mails and metrics read history through this port and nothing else, so that a number is the same
// everywhere. Times are milliseconds since the epoch, durations seconds, shares ratios from 0 to 1.

/** How things were. A round that ended within the last second may be missing; beside a daemon, a healthy one of the last three. */
export interface HistoryReader {
  /** Every configured target as it is now, or those of a selection, or of a page of it, by name. */
  now(of?: Selection, page?: TargetPage, signal?: AbortSignal): Promise<readonly TargetNow[]>;
  /** The newest rounds before `before` (default: now) with all votes, the newest first; at most `limit`, and at most 7 days back. */
  rounds(target: string, options: { readonly before?: number; readonly limit: number }): Promise<readonly PastRound[]>;
  /** The figures of a span, of all targets of the selection together. */
  figures(query: FiguresQuery): Promise<HistoryFigures>;
  /** The same for each target of the selection, or of a page of it, by name, with what is left of its objective's budget. */
  byTarget(query: FiguresQuery, page?: TargetPage): Promise<readonly TargetFigures[]>;
  /** The same for each node that had a result, by name. */
  byNode(query: Omit<FiguresQuery, 'node'>): Promise<readonly NodeFigures[]>;
  /** Figures in steps, for charts: all parts of the span in order, those without any result too. */
  series(query: SeriesQuery): Promise<FiguresSeries>;
  /** How a target was within a span, period by period and to the millisecond; what was not watched is left out unless it is excluded. */
  periods(target: string, span: TimeSpan): Promise<readonly VerdictSpan[]>;
  /** The exclusions that touch a span, of one target or of all, by their beginning. */
  exclusions(query: TimeSpan & { readonly target?: string }): Promise<readonly Exclusion[]>;
  /** Incidents that were open for a part of the span, the newest first. `next` goes on where the list was cut, else it is null. */
  incidents(query: IncidentsQuery): Promise<IncidentPage>;
  /** One incident with its votes and deliveries; null if there is none of this id. */
  incident(id: string): Promise<IncidentDetail | null>;
  /** What is left of each objective's budget at this moment, by target. */
  budgets(): Promise<readonly TargetBudget[]>;
  /** Names of the nodes that have results. */
  nodes(): Promise<readonly string[]>;
  /** From when on there is history of each resolution. */
  kept(): Promise<KeptHistory>;
}

/** Which targets: one, all that bear a label, or all that are configured. A target that is not configured any more can be named. */
export type Selection =
  | { readonly target: string }
  | { readonly label: string; readonly value: string }
  | { readonly all: true };

/** A part of a selection, so that only that part is computed. */
export interface TargetPage {
  /** Only targets whose names come after this one. */
  readonly after?: string | undefined;
  readonly limit: number;
}

/** What is to be seen of a span. `of` is all targets if it is not said, `node` all nodes. */
export interface FiguresQuery extends TimeSpan {
  readonly of?: Selection | undefined;
  readonly node?: string | undefined;
}

export interface SeriesQuery extends FiguresQuery {
  /** The length of a step; it is lengthened where less is not kept. Without it, the shortest that gives at most `points` parts. */
  readonly stepMs?: number | undefined;
  /** Default: 300. */
  readonly points?: number | undefined;
  /** Quantiles from 0 to 1 whose times are wanted of each part. */
  readonly quantiles?: readonly number[] | undefined;
  /**
   * Only the time is wanted: `answers` and `latency` of the parts mean nothing, because results are read only if they are older than
   * the verdicts. Default: false.
   */
  readonly isTimeOnly?: boolean | undefined;
}

export interface IncidentsQuery extends Partial<TimeSpan> {
  readonly target?: string | undefined;
  /** True for open ones only, false for those that are over only. */
  readonly isOpen?: boolean | undefined;
  readonly severity?: PastIncident['severity'] | undefined;
  /** True for those whose notification is suppressed, false for the others. */
  readonly isHeld?: boolean | undefined;
  /** Default: 50. */
  readonly limit?: number | undefined;
  /** What a page before gave as `next`. */
  readonly after?: string | undefined;
}

export interface IncidentPage {
  readonly incidents: readonly PastIncident[];
  readonly next: string | null;
}

/**
 * How a span went. `from` and `to` are what was counted: the span that was asked for, widened to whole hours or days if no finer
 * history is kept, and cut at now.
 */
export interface HistoryFigures extends TimeSpan {
  /**
   * The share of the time with a verdict in which the targets were not down; of one node, the share of its answers that were up.
   * Unknown and maintenance count for neither side. Null if there is nothing to go by, and while answers of the span wait for verdicts.
   */
  readonly uptime: number | null;
  /** From when on the target was watched within the span, of several targets the first; null if it was not, and of one node. */
  readonly since: number | null;
  /** From when on there are verdicts, if older answers of the span still wait for theirs after an update (Infinity: there are none yet). */
  readonly verdictsFrom: number | null;
  /** How the time was spent, by verdicts, of several targets added up; null if a node is named, which gives no verdict. */
  readonly time: TimeByStatus | null;
  readonly answers: OutcomeCounts;
  readonly latency: Latency | null;
  /** The times at the quantiles that were asked for, within 1 %; absent if none were, or no answer was up. */
  readonly atQuantiles?: readonly number[];
}

export interface TargetFigures extends HistoryFigures {
  readonly target: string;
  /** Of the objective's own period up to the end of the span; null if the target has no objective, or a node is named. */
  readonly budget: BudgetFigures | null;
}

export interface NodeFigures extends HistoryFigures {
  readonly node: string;
}

export interface FiguresSeries extends TimeSpan {
  readonly stepMs: number;
  readonly parts: readonly HistoryFigures[];
}

/** What a target promises: not to be down for more than a share of a period. */
export interface Objective {
  /** The share of the time that it is to be up: 0.999. */
  readonly ratio: number;
  /** The length of the period. Of months that of the longest one, or of the month if the budget of one is described. */
  readonly overMs: number;
  /** The IANA time zone whose calendar months are the periods; absent if the period is the last `overMs`. */
  readonly monthIn?: string;
}

/** What is left of an objective's budget. */
export interface BudgetLeft extends Objective {
  /** How long the target may be down in the period, and how long it was. */
  readonly allowedMs: number;
  readonly spentMs: number;
  /** The share of the budget that is left; negative if more was spent than there is. */
  readonly left: number;
}

/** How an objective stands. */
export interface BudgetFigures extends BudgetLeft {
  /** The uptime within the period; null if nothing is known. */
  readonly uptime: number | null;
}

export interface TargetBudgetLeft extends BudgetLeft {
  readonly target: string;
}

export interface TargetBudget extends BudgetFigures {
  readonly target: string;
}

/** What is configured about a target, as far as people see it. */
export interface HistoryTarget {
  readonly name: string;
  readonly check: string;
  readonly host: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly objective: Objective | null;
}

/** A target at this moment. */
export interface TargetNow extends HistoryTarget {
  /** Unknown if nothing was seen of it for too long. */
  readonly status: TargetStatus;
  readonly inMaintenance: boolean;
  /** Since when it is so; null if it was never watched. */
  readonly since: number | null;
  /** The last round that had results, or null. */
  readonly round: PastRound | null;
  /** Its open incidents, the oldest first. */
  readonly incidents: readonly PastIncident[];
}

/** A round with what each node answered. */
export interface PastRound {
  readonly dueAt: number;
  /** The verdict that was shown; null if none was kept. */
  readonly status: TargetStatus | null;
  /** By the node's name. */
  readonly votes: readonly PastNodeResult[];
}

export interface PastNodeResult {
  readonly node: string;
  readonly status: 'up' | 'down' | 'unknown';
  readonly seconds: number | null;
  /** Null if it is up. */
  readonly failure: PastFailure | null;
  /** When it came, if that was after its round. */
  readonly lateAt: number | null;
}

export interface KeptHistory {
  /** The oldest moment of which single results, hours and days are kept. */
  readonly resultsFrom: number;
  readonly hoursFrom: number;
  readonly daysFrom: number;
}
