import { probedTypeNames } from '#checks/index.ts';
import type { TargetChange } from '#history/changes.ts';
import type { MeasuredPast } from '#history/measurements.ts';
import type { HistoryFigures, PastRound } from '#history/reader.ts';
import type { PastIncident } from '#history/incidents.ts';
import { describeDuration, formatSeconds } from '#kernel/units.ts';
import { shownTarget } from '#monitor/judge/incident.ts';
import type { LiveTarget } from '../state/board.ts';
import { stateOf } from '../state/shown.ts';
import { answers, certificates } from './changes.ts';
import { type ChartSpan, spans } from './chart-span.ts';
import { type ChartView, spanHref } from './chart-view.ts';
import { type ChartValue, eventList, latencyChart } from './chart.ts';
import { dayBars } from './day-bars.ts';
import { glance, hasPercentiles, leastAnswers, month, watchedMs } from './glance.ts';
import { incidentHref, targetHref } from './links.ts';
import { foreign, html, type Markup, moment, nothing, recentMoment, shapeOf, shortMoment, state } from './markup.ts';
import { outcomes } from './outcomes.ts';
import { incidentItem } from './open-incidents.ts';
import { daysInWords, firstCheck, percent, uptimeWords } from './overview.ts';
import type { Past } from './past.ts';
import { measuredSpan, measuredValues } from './measured.ts';
import { roundsGrid } from './rounds.ts';
import { smoke } from './smoke.ts';
import { countVotes, roundedDuration } from './target-texts.ts';
import { texts } from './texts.ts';
import { about } from './docs-links.ts';

export interface TargetValue {
  readonly now: number;
  readonly target: LiveTarget;
  readonly span: ChartSpan;
  readonly view: ChartView;
  readonly changes: readonly TargetChange[];
  /** What its checks measured under names of their own, in the span; null if they have none. */
  readonly measured: MeasuredPast | null;
  readonly chart: ChartValue;
  /** Of the shown span, and of 24 hours, 30 and 90 days. */
  readonly figures: readonly { readonly name: string; readonly figures: HistoryFigures }[];
  readonly rounds: readonly PastRound[];
  readonly incidents: readonly PastIncident[];
  /** Its 90 days; null while they are looked up. */
  readonly past: Past | null;
  /** Whether the viewer may run its check from here. */
  readonly mayCheck: boolean;
  /** What the viewer may do with it in the configuration. */
  readonly editing: Markup;
  /** What was done to it just now. */
  readonly notice: Markup;
}

/** How it is, from where, how it was: one sentence. */
export function targetSentence({ target, figures, now }: TargetValue): string {
  const { name, votes, since } = target;
  const status = stateOf(target);
  const up = votes.statuses().filter(({ status }) => status === 'up').length;
  const lately = month(figures);
  return texts.target.sentence({
    name,
    status,
    up,
    // A job has no nodes.
    all: isJob(target) ? 0 : votes.length,
    forMs: since === null ? null : Math.max(0, now - since),
    uptime: lately === undefined || lately.uptime === null ? null : monthWords(lately),
    p95: hasPercentiles(lately) && !isJob(target) ? formatSeconds(lately.latency.p95) : null,
  });
}

function openIncidents({ target: { incidents } }: Pick<TargetValue, 'target'>): Markup {
  if (incidents.length === 0) return nothing;
  const items = incidents.toSorted((a, b) => a.startedAt - b.startedAt).map((one) => incidentItem(one));
  return html`<ul class="plain" aria-label="${texts.overview.incidents}">${items}</ul>`;
}

function monthWords(figures: HistoryFigures): string {
  const knownMs = watchedMs(figures);
  const { uptime } = figures;
  return knownMs === null ? texts.target.month(percent(uptime)) : uptimeWords({ uptime, knownMs });
}

/** Its sentence, what it is, and its open incidents. */
export function headOf(value: TargetValue): Markup {
  const { target } = value;
  const labels = Object.entries(target.labels).map(
    ([key, one]) => html`<a href="/?label=${encodeURIComponent(`${key}:${one}`)}">${key}: ${one}</a> `,
  );
  return html`<h1>${state(stateOf(target), '')} ${targetSentence(value)}</h1>
<p class="lead">${target.check} ${foreign(target.host)} ${labels}</p>${target.firstDueAt === undefined ? nothing : html`<p class="said">${firstCheck(target.firstDueAt, target)}</p>`}${openIncidents(value)}`;
}

export const daysPart = ({ past, target, now }: TargetValue): Markup =>
  html`<div data-part="days">${past === null ? nothing : html`<div class="paper">${dayBars(past, now, targetHref(target.name))}<p class="row spread small soft"><span>${texts.status.daysAgo}</span><span data-readout>${daysInWords(past)}</span><span>${texts.status.today}</span></p></div>`}</div>`;

export const rulesPart = ({ target }: TargetValue): Markup =>
  html`<h2>${texts.target.rules}${about('rules', texts.target.rules)}</h2><ul>${target.rules.map(({ name, words: rule, severity }) => html`<li><strong>${name}</strong> (${severity}): ${rule}</li>`)}</ul>`;

export const incidentsPart = ({ incidents, now, editing }: TargetValue): Markup =>
  html`<h2>${texts.target.incidents}</h2><div data-part="incidents">${incidentList(incidents, now)}</div>${editing}`;

/** Whether a target calls by itself, so that no node checks it. */
export const isJob = ({ check }: Pick<LiveTarget, 'check'>): boolean => !probedTypeNames.includes(check);

export function targetContent(value: TargetValue): Markup {
  const { target, mayCheck } = value;
  const words = texts.target;
  return html`${value.notice}<div data-part="head">${headOf(value)}${glance(value)}</div>
${
  mayCheck
    ? html`<form class="row" method="post" action="/actions/check"><input type="hidden" name="target" value="${target.name}"><button class="quiet">${words.checkNow}</button></form>`
    : nothing
}
${daysPart(value)}
<h2>${words.latency}</h2>
<nav class="row small" aria-label="${words.span}" data-part="spans">${spans.map((one) => html`<a href="${spanHref(target.name, one, value.view)}"${one === value.span.name ? html` aria-current="true"` : nothing}>${one}</a>`)}</nav>
<div class="paper plot" data-series="${targetHref(target.name)}/series" data-words="${JSON.stringify(words.plot)}"><div data-part="chart">${latencyChart(value.chart, value.view.node)}</div></div>
<div data-part="events">${eventList(value.chart)}</div>
<div data-part="figures">${figuresTable(value)}</div>
<h2>${words.rounds}${about('verdicts', words.rounds)}</h2><div data-part="rounds">${value.rounds.length === 0 ? html`<p class="soft">${words.noRounds}</p>` : roundsGrid(value.rounds)}</div>
${smoke(target)}${measuredValues(value.measured, measuredSpan(value.span))}
<h2>${words.last}</h2><div data-part="last">${lastRound(value)}</div>
${certificates(value.changes, value.now)}${answers(value.changes)}
${rulesPart(value)}${incidentsPart(value)}`;
}

export function figuresTable({ figures }: TargetValue): Markup {
  const words = texts.target;
  const time = (name: string, seconds: number | undefined) =>
    html`<td class="num" data-label="${name}">${seconds === undefined ? '–' : formatSeconds(seconds)}</td>`;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${words.figures}"><table class="cards"><thead><tr><th scope="col">${words.span}</th><th scope="col" class="num">${words.uptime}</th><th scope="col" class="num">${words.down}</th><th scope="col" class="num">min</th><th scope="col" class="num">p50</th><th scope="col" class="num">p95</th><th scope="col" class="num">p99</th><th scope="col" class="num">max</th><th scope="col" class="num">${words.answers}</th></tr></thead><tbody>${figures.map(
    ({ name, figures: one }) => {
      const { uptime, since, time: spent, latency, answers } = one;
      const knownMs = watchedMs(one);
      const known =
        knownMs === null || since === null
          ? nothing
          : html` <span class="small soft">${texts.overview.since} ${shortMoment(since)} (${roundedDuration(knownMs)})</span>`;
      const excluded =
        spent === null || spent.excluded === 0
          ? nothing
          : html` <span class="small soft">${words.excluded(describeDuration(spent.excluded))}</span>`;
      const most = hasPercentiles(one) ? one.latency : undefined;
      return html`<tr><th scope="row" class="brief">${name}</th><td class="num" data-label="${words.uptime}">${percent(uptime)}${known}${excluded}</td><td class="num" data-label="${words.down}">${spent === null || spent.down === 0 ? '–' : describeDuration(spent.down)}</td>${time('min', latency?.min)}${time('p50', most?.p50)}${time('p95', most?.p95)}${time('p99', most?.p99)}${time('max', latency?.max)}<td class="num" data-label="${words.answers}">${answered(answers)}</td></tr>`;
    },
  )}</tbody></table></div>${figures.some(({ figures: { latency } }) => latency !== null && latency.count < leastAnswers) ? html`<p class="small soft">${words.fewAnswers(leastAnswers)}</p>` : nothing}`;
}

const answered = ({ up, down, unknown, late }: HistoryFigures['answers']): string =>
  countVotes({ up, down, unknown, late }) || '–';

function lastRound({ target }: TargetValue): Markup {
  const words = texts.target;
  const { votes, dueAt } = target;
  if (votes.length === 0 || dueAt === null) return html`<p class="soft">${words.noRounds}</p>`;
  return html`<p class="soft">${words.due} ${moment(dueAt)}</p>${outcomes({ check: target.check, results: votes.list(), label: words.last, byRow: false })}`;
}

/** Incidents as a list, each a link to its page. */
export function incidentList(incidents: readonly PastIncident[], now: number): Markup {
  const words = texts.target;
  if (incidents.length === 0) return html`<p class="soft">${words.noIncidents}</p>`;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${words.incidents}"><table class="cards"><thead><tr><th scope="col">${words.incident}</th><th scope="col">${words.rule}</th><th scope="col">${words.began}</th><th scope="col">${words.lasted}</th><th scope="col">${words.cause}</th></tr></thead><tbody>${incidents.map(
    ({ id, target, rule, word, startedAt, endedAt, cause }) =>
      html`<tr><th scope="row"><a href="${incidentHref(id)}"><span class="state ${endedAt === null ? shapeOf(word) : 'over'}">${word}</span> ${shownTarget(target)}</a></th><td data-label="${words.rule}">${rule}</td><td data-label="${words.began}">${recentMoment(startedAt)}</td><td class="brief" data-label="${words.lasted}">${describeDuration(Math.max(0, (endedAt ?? now) - startedAt))}${endedAt === null ? ` ${words.goesOn}` : ''}</td><td class="wrap">${foreign(cause)}</td></tr>`,
  )}</tbody></table></div>`;
}
