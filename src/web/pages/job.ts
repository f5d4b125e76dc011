import type { PastRound } from '#history/reader.ts';
import { formatSeconds } from '#kernel/units.ts';
import type { LiveTarget } from '../state/board.ts';
import { figureList, hasPercentiles, month, spanWords } from './glance.ts';
import { foreign, html, type Markup, moment, nothing, recentMoment, state } from './markup.ts';
import { percent } from './overview.ts';
import { daysPart, figuresTable, headOf, incidentsPart, rulesPart, type TargetValue } from './target.ts';
import { roundedDuration } from './target-texts.ts';
import { texts } from './texts.ts';

/** An end of a run, or a time at which the job was overdue. */
interface JobRun {
  readonly at: number;
  readonly status: 'up' | 'down' | 'unknown';
  /** Null if its start was not reported. */
  readonly seconds: number | null;
  readonly reason: string | null;
  /** Whether the job reported it: it did not if it was late. */
  readonly isPing: boolean;
}

const silent = new Set(['late', 'unfinished']);

/** The runs of a job, the newest first. */
function runsOf(rounds: readonly PastRound[]): readonly JobRun[] {
  return rounds.flatMap(({ dueAt, votes: [vote] }) =>
    vote === undefined
      ? []
      : [
          {
            at: dueAt,
            status: vote.status,
            seconds: vote.seconds,
            reason: vote.failure?.message ?? null,
            isPing: vote.failure === null || !silent.has(vote.failure.code),
          },
        ],
  );
}

/** The page of a job that calls: its runs and durations, its output, and when it is expected next. */
export function jobContent(value: TargetValue): Markup {
  const { target } = value;
  const words = texts.target;
  const runs = runsOf(value.rounds);
  return html`${value.notice}<div data-part="head">${headOf(value)}${glanceOf(value, runs)}</div>
${daysPart(value)}
<h2>${words.job.runs}</h2><div data-part="runs">${runsTable(runs)}</div>
<h2>${words.job.output}</h2><div data-part="last">${outputOf(target)}</div>
<h2>${words.figures}</h2><div data-part="figures">${figuresTable(value)}</div>
${rulesPart(value)}${incidentsPart(value)}`;
}

function glanceOf({ target, figures, now }: TargetValue, runs: readonly JobRun[]): Markup {
  const words = texts.target;
  const lately = month(figures);
  const span = spanWords(lately);
  const last = runs.find(({ isPing }) => isPing);
  const next = last === undefined ? null : (target.nextPing?.(last) ?? null);
  return figureList([
    [words.glance.uptime(span), percent(lately?.uptime ?? null)],
    [words.job.last, last === undefined ? '–' : html`${recentMoment(last.at)}`],
    [words.job.median(span), hasPercentiles(lately) ? formatSeconds(lately.latency.p50) : lastDuration(runs)],
    [words.job.next, next === null ? '–' : nextPing(next, now)],
  ]);
}

const nextPing = (at: number, now: number): Markup =>
  html`${moment(at)}${at < now ? html` ${state('partial', texts.target.job.overdue(roundedDuration(now - at)))}` : nothing}`;

// Percentiles need more runs than a daily job soon has: half of the runs that are listed took no longer than this.
function lastDuration(runs: readonly JobRun[]): string {
  const times = runs.flatMap(({ seconds }) => seconds ?? []).toSorted((a, b) => a - b);
  const middle = times[Math.floor((times.length - 1) / 2)];
  return middle === undefined ? '–' : formatSeconds(middle);
}

function runsTable(runs: readonly JobRun[]): Markup {
  const words = texts.target.job;
  if (runs.length === 0) return html`<p class="soft">${words.none}</p>`;
  const longest = Math.max(...runs.map(({ seconds }) => seconds ?? 0));
  const rows = runs.map(({ at, status, seconds, reason, isPing }) => {
    const result = status === 'up' ? words.well : isPing ? texts.states[status] : words.missing;
    const width = seconds === null || longest === 0 ? 0 : Math.max((seconds / longest) * 100, 0.5);
    const bar =
      width === 0
        ? nothing
        : html`<svg class="duration" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><rect class="f-${status}" width="${width.toFixed(1)}" height="8"/></svg>`;
    return html`<tr><th scope="row">${moment(at)}</th><td>${state(status, result)}</td><td class="num" data-label="${words.duration}">${seconds === null ? '–' : formatSeconds(seconds)}</td><td class="wide">${bar}</td><td class="wrap">${reason === null ? nothing : foreign(reason)}</td></tr>`;
  });
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${words.runs}"><table class="cards"><caption>${words.caption}</caption><thead><tr><th scope="col">${words.ended}</th><th scope="col">${words.result}</th><th scope="col" class="num">${words.duration}</th><td class="wide"></td><th scope="col">${words.reason}</th></tr></thead><tbody>${rows}</tbody></table></div>`;
}

function outputOf({ votes }: LiveTarget): Markup {
  const words = texts.target.job;
  const [vote] = votes.list();
  const detail = vote?.outcome.detail;
  const log = typeof detail === 'object' && detail !== null && 'log' in detail ? detail.log : [];
  const lines = Array.isArray(log) ? log.map(String) : [];
  if (lines.length === 0) return html`<p class="soft">${words.noOutput}</p>`;
  return html`<div class="paper"><pre>${lines.join('\n')}</pre></div>`;
}
