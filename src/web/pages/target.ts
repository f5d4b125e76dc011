import { checkOf, probedTypeNames } from '#checks/index.ts';
import type { Change } from '#history/changes.ts';
import type { Figures, PastRound } from '#history/reader.ts';
import type { PastIncident } from '#history/incidents.ts';
import { describeDuration, formatSeconds } from '#kernel/units.ts';
import type { LiveTarget } from '../live/board.ts';
import { answers, certificates } from './changes.ts';
import { type ChartSpan, spans } from './chart-span.ts';
import { type ChartValue, eventList, latencyChart } from './chart.ts';
import { incidentHref, targetHref } from './links.ts';
import { foreign, html, type Markup, moment, nothing, shapeOf, state } from './markup.ts';
import { percent } from './overview.ts';
import { smoke } from './smoke.ts';
import { texts } from './texts.ts';
import { lengthOf, waterfall, waterfallLegend } from './waterfall.ts';

export interface TargetValue {
  readonly now: number;
  readonly target: LiveTarget;
  readonly span: ChartSpan;
  readonly changes: readonly Change[];
  readonly chart: ChartValue;
  /** Of the shown span, and of 24 hours, 30 and 90 days. */
  readonly figures: readonly { readonly name: string; readonly figures: Figures }[];
  readonly rounds: readonly PastRound[];
  readonly incidents: readonly PastIncident[];
  /** Whether the viewer may run its check from here. */
  readonly mayCheck: boolean;
}

/** How it is, from where, how it was: one sentence. */
export function targetSentence({ target, figures, now }: TargetValue): string {
  const { name, status, votes, since } = target;
  const up = votes.filter(({ outcome }) => outcome.status === 'up').length;
  const month = figures.find((one) => one.name === '30 days')?.figures;
  return texts.target.sentence({
    name,
    status,
    up,
    all: votes.length,
    forMs: since === null ? null : Math.max(0, now - since),
    uptime: month === undefined || month.uptime === null ? null : percent(month.uptime),
    p95: month === undefined || month.latency === null ? null : formatSeconds(month.latency.p95),
  });
}

export function targetContent(value: TargetValue): Markup {
  const { target, incidents, mayCheck } = value;
  const words = texts.target;
  const isHeard = !probedTypeNames.includes(target.check);
  const labels = Object.entries(target.labels).map(
    ([key, one]) => html`<a href="/?label=${encodeURIComponent(`${key}:${one}`)}">${key}: ${one}</a> `,
  );
  return html`<div data-part="head"><h1>${state(target.status, '')} ${targetSentence(value)}</h1>
<p class="lead">${target.check} ${foreign(target.host)} ${labels}</p></div>
${
  mayCheck
    ? html`<form class="row" method="post" action="/actions/check"><input type="hidden" name="target" value="${target.name}"><button class="quiet">${words.checkNow}</button></form>`
    : nothing
}
<h2>${words.latency}</h2>
<nav class="row small" aria-label="${words.span}">${spans.map((one) => html`<a href="${targetHref(target.name)}?span=${one}"${one === value.span.name ? html` aria-current="true"` : nothing}>${one}</a>`)}</nav>
<div class="paper plot" data-series="${targetHref(target.name)}/series" data-hint="${words.hint}"><div data-part="chart">${latencyChart(value.chart)}</div></div>
<div data-part="events">${eventList(value.chart)}</div>
<div data-part="figures">${figuresTable(value)}</div>
<h2>${words.rounds}</h2><div data-part="rounds">${roundsGrid(value)}</div>
${smoke(target)}
<h2>${isHeard ? words.heard : words.last}</h2><div data-part="last">${lastRound(value)}</div>
${certificates(value.changes, value.now)}${answers(value.changes)}
<h2>${words.rules}</h2><ul>${target.rules.map(({ name, words: rule, severity }) => html`<li><strong>${name}</strong> (${severity}): ${rule}</li>`)}</ul>
<h2>${words.incidents}</h2><div data-part="incidents">${incidentList(incidents, value.now)}</div>`;
}

function figuresTable({ figures }: TargetValue): Markup {
  const words = texts.target;
  const time = (seconds: number | undefined) =>
    html`<td class="num">${seconds === undefined ? '–' : formatSeconds(seconds)}</td>`;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${words.figures}"><table><thead><tr><th scope="col">${words.span}</th><th scope="col" class="num">${words.uptime}</th><th scope="col" class="num">${words.down}</th><th scope="col" class="num">min</th><th scope="col" class="num">p50</th><th scope="col" class="num">p95</th><th scope="col" class="num">p99</th><th scope="col" class="num">max</th><th scope="col" class="num">${words.answers}</th></tr></thead><tbody>${figures.map(
    ({ name, figures: { uptime, time: spent, latency, answers } }) =>
      html`<tr><th scope="row">${name}</th><td class="num">${percent(uptime)}</td><td class="num">${spent === null || spent.down === 0 ? '–' : describeDuration(spent.down)}</td>${time(latency?.min)}${time(latency?.p50)}${time(latency?.p95)}${time(latency?.p99)}${time(latency?.max)}<td class="num">${words.answered(answers)}</td></tr>`,
  )}</tbody></table></div>`;
}

// A round is no wider than this share of the row, however few there were.
const leastColumns = 20;

/** The votes of rounds: a row for each node, a column for each round, the newest on the right. */
export function roundsGrid({ rounds }: Pick<TargetValue, 'rounds'>): Markup {
  const words = texts.target;
  if (rounds.length === 0) return html`<p class="soft">${words.noRounds}</p>`;
  const ordered = rounds.toReversed();
  const nodes = [...new Set(ordered.flatMap(({ votes }) => votes.map(({ node }) => node)))].sort();
  const rows = nodes.map((node) => {
    const votes = ordered.map((round) => round.votes.find((vote) => vote.node === node));
    const count = (status: string) => votes.filter((vote) => vote?.status === status).length;
    const label = words.votesOf(count('up'), count('down'), count('unknown'));
    const cells = votes.map((vote, index) => {
      if (vote === undefined) return nothing;
      const [y, h] = vote.status === 'down' ? [0, 14] : vote.status === 'unknown' ? [6, 3] : [3, 9];
      const title = `${new Date(ordered[index]?.dueAt ?? 0).toISOString()} ${texts.states[vote.status]}${vote.seconds === null ? '' : ` ${formatSeconds(vote.seconds)}`}${vote.failure === null ? '' : `: ${vote.failure.message}`}${vote.lateAt === null ? '' : `, ${words.late}`}`;
      return html`<rect class="f-${vote.status}" x="${index * 10}" y="${y}" width="8" height="${h}"><title>${title}</title></rect>${vote.lateAt === null ? nothing : html`<rect class="f-maintenance" x="${index * 10}" y="12" width="8" height="2"/>`}`;
    });
    return html`<tr><th scope="row">${node}</th><td class="grow"><svg class="rounds" viewBox="0 0 ${Math.max(ordered.length, leastColumns) * 10} 14" preserveAspectRatio="none" role="img" aria-label="${node}: ${label}">${cells}</svg></td><td class="num small soft">${label}</td></tr>`;
  });
  const [first] = ordered;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${words.rounds}"><table><caption>${words.roundsCaption(ordered.length)} ${first === undefined ? '' : moment(first.dueAt)}</caption><tbody>${rows}</tbody></table></div>`;
}

function lastRound({ target }: TargetValue): Markup {
  const words = texts.target;
  const { votes, dueAt } = target;
  if (votes.length === 0 || dueAt === null) return html`<p class="soft">${words.noRounds}</p>`;
  const type = checkOf(target.check);
  const { table } = type;
  const longest = Math.max(0, ...votes.map(({ outcome }) => lengthOf(outcome.phases)));
  const rows = votes.map(({ node, outcome }) => {
    const more = type.lines(outcome);
    return html`<tbody><tr><th scope="row">${node.name}</th><td>${state(outcome.status, texts.states[outcome.status])}</td><td class="num">${outcome.seconds === null ? '' : formatSeconds(outcome.seconds)}</td>${table.cells(outcome).map((cell) => html`<td class="wrap">${typeof cell === 'string' ? foreign(cell) : html`${cell.map((line) => html`<div>${foreign(line)}</div>`)}`}</td>`)}<td class="mono">${outcome.address ?? ''}</td>${longest === 0 ? nothing : html`<td class="wide">${waterfall(outcome.phases, longest)}</td>`}</tr>
${outcome.status === 'up' && more.length === 0 ? nothing : html`<tr class="more"><td colspan="${table.columns.length + 5}">${outcome.status === 'up' ? nothing : html`<p class="wrap">${foreign(outcome.failure.message)} <span class="soft">${texts.report.by(texts.sources[outcome.failure.source])}</span></p>`}${more.length === 0 ? nothing : html`<details><summary>${texts.report.details}</summary><pre>${more.join('\n')}</pre></details>`}</td></tr>`}</tbody>`;
  });
  const { report } = texts;
  return html`<p class="soft">${words.due} ${moment(dueAt)}</p>${waterfallLegend(votes.map(({ outcome }) => outcome.phases))}
<div class="scroll" tabindex="0" role="region" aria-label="${words.last}"><table><thead><tr><th scope="col">${report.node}</th><th scope="col">${report.result}</th><th scope="col" class="num">${report.time}</th>${table.columns.map((name) => html`<th scope="col">${name}</th>`)}<th scope="col">${report.address}</th>${longest === 0 ? nothing : html`<th scope="col" class="wide">${report.phases}</th>`}</tr></thead>${rows}</table></div>`;
}

/** Incidents as a list, each a link to its story. */
export function incidentList(incidents: readonly PastIncident[], now: number): Markup {
  const words = texts.target;
  if (incidents.length === 0) return html`<p class="soft">${words.noIncidents}</p>`;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${words.incidents}"><table><thead><tr><th scope="col">${words.incident}</th><th scope="col">${words.rule}</th><th scope="col">${words.began}</th><th scope="col">${words.lasted}</th><th scope="col">${words.cause}</th></tr></thead><tbody>${incidents.map(
    ({ id, target, rule, word, startedAt, endedAt, cause }) =>
      html`<tr><th scope="row"><a href="${incidentHref(id)}"><span class="state ${endedAt === null ? shapeOf(word) : 'over'}">${word}</span> ${target}</a></th><td>${rule}</td><td>${moment(startedAt)}</td><td class="brief">${describeDuration(Math.max(0, (endedAt ?? now) - startedAt))}${endedAt === null ? ` ${words.goesOn}` : ''}</td><td class="wrap">${foreign(cause)}</td></tr>`,
  )}</tbody></table></div>`;
}
