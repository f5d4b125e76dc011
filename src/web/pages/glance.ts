import type { TargetChange } from '#history/changes.ts';
import type { HistoryFigures } from '#history/reader.ts';
import type { Latency } from '#history/tally.ts';
import { describeDuration, formatSeconds } from '#kernel/units.ts';
import type { LiveTarget } from '../state/board.ts';
import { certificateDaysLeft } from './changes.ts';
import { html, type Markup } from './markup.ts';
import { percent } from './overview.ts';
import { roundedDuration } from './target-texts.ts';
import { texts } from './texts.ts';

export interface SpanFigures {
  readonly name: string;
  readonly figures: HistoryFigures;
}

// Percentiles of fewer answers say little.
export const leastAnswers = 20;
export const hasPercentiles = (figures?: HistoryFigures): figures is HistoryFigures & { readonly latency: Latency } =>
  figures !== undefined && figures.latency !== null && figures.latency.count >= leastAnswers;

/** The figures of 30 days. */
export const month = (all: readonly SpanFigures[]): HistoryFigures | undefined =>
  all.find(({ name }) => name === '30 days')?.figures;

/** How long a target was watched within a span, in milliseconds; null if that is nearly all of it, or nothing. */
export const watchedMs = ({ from, to, since }: HistoryFigures): number | null =>
  since === null || since - from < 0.02 * (to - from) ? null : to - since;

interface GlanceValue {
  readonly now: number;
  readonly target: Pick<LiveTarget, 'spreads'>;
  readonly figures: readonly SpanFigures[];
  readonly changes: readonly TargetChange[];
}

/** Four figures of a target: its uptime, its times, and the loss of echoes, the end of its certificate or how long it was down. */
export function glance(value: GlanceValue): Markup {
  const words = texts.target.glance;
  const lately = month(value.figures);
  const most = hasPercentiles(lately) ? lately.latency : null;
  const span = spanWords(lately);
  const time = (seconds: number | undefined) => (seconds === undefined ? '–' : formatSeconds(seconds));
  return figureList([
    [words.uptime(span), percent(lately?.uptime ?? null)],
    [words.median(span), time(most?.p50)],
    [words.p95(span), time(most?.p95)],
    lastFigure(value, lately),
  ]);
}

/** Names and values side by side. */
export function figureList(figures: readonly (readonly [name: string, value: string | Markup])[]): Markup {
  return html`<dl class="glance">${figures.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

/** What the figures of 30 days are about: less if the target was watched for less. */
export function spanWords(lately?: HistoryFigures): string {
  const knownMs = lately === undefined ? null : watchedMs(lately);
  return knownMs === null ? texts.target.glance.month : roundedDuration(knownMs);
}

function lastFigure({ now, target, changes }: GlanceValue, lately?: HistoryFigures): readonly [string, string] {
  const words = texts.target.glance;
  const rounds = [...target.spreads.values()].flat();
  if (rounds.length > 0) return [words.loss, percent(rounds.reduce((sum, { loss }) => sum + loss, 0) / rounds.length)];
  const days = certificateDaysLeft(changes, now);
  if (days !== null) return [words.certificate, texts.target.left(days)];
  const downMs = lately?.time?.down ?? null;
  return [words.down(spanWords(lately)), downMs === null ? '–' : downMs === 0 ? words.never : describeDuration(downMs)];
}
