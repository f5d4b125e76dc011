import { type Incident, latestCause, shownTarget } from '#monitor/judge/incident.ts';
import { incidentHref } from './links.ts';
import { foreign, html, type Markup, nothing, recentMoment, shapeOf } from './markup.ts';
import { texts } from './texts.ts';

interface OpenIncidents {
  readonly incidents: readonly Incident[];
}

const mostLines = 5;
const mostLinesInAll = 50;
const mostNames = 6;
const severities = ['critical', 'warning', 'info'];

/** The open incidents, the worst first: five lines, and the others folded. Incidents with one word and cause share a line. */
export function incidentsPart({ incidents }: OpenIncidents): Markup {
  const words = texts.overview;
  const lines = linesOf(incidents);
  const items = lines.slice(0, mostLinesInAll).map((line) => incidentLine(line));
  const isMild = incidents.every(({ wording }) => shapeOf(wording.word) !== 'down');
  const folded = lines.slice(mostLines).reduce((sum, line) => sum + line.length, 0);
  const rest =
    folded === 0
      ? nothing
      : html`<details><summary>${words.moreIncidents(folded)}</summary><ul class="plain">${items.slice(mostLines)}</ul></details>`;
  return html`<div data-part="incidents">${items.length === 0 ? nothing : html`<section class="paper open${isMild ? ' mild' : ''}" aria-label="${words.incidents}"><h2>${words.incidents}</h2><ul class="plain">${items.slice(0, mostLines)}</ul>${rest}</section>`}</div>`;
}

// Newest first among equals: whatever began last is news.
function linesOf(incidents: readonly Incident[]): readonly (readonly Incident[])[] {
  const ranked = incidents.toSorted((a, b) => rankOf(a) - rankOf(b) || b.startedAt - a.startedAt);
  const remarkOf = ({ held, acknowledged }: Incident) => held?.why ?? acknowledged?.why ?? '';
  return [
    ...Map.groupBy(ranked, (one) =>
      JSON.stringify([one.wording.word, one.severity, latestCause(one), remarkOf(one)]),
    ).values(),
  ];
}

// What is suppressed or acknowledged comes last: it is known.
function rankOf({ severity, held, acknowledged }: Incident): number {
  const isKnown = held !== null || acknowledged !== null;
  return severities.indexOf(severity) + (isKnown ? severities.length : 0);
}

/** One open incident as an item of a list. */
export const incidentItem = (incident: Incident): Markup => incidentLine([incident]);

function incidentLine(line: readonly Incident[]): Markup {
  const words = texts.overview;
  const [first, ...others] = line;
  if (first === undefined) return nothing;
  const { wording, acknowledged, held } = first;
  const startedAt = Math.min(...line.map((one) => one.startedAt));
  const links = others
    .slice(0, mostNames - 1)
    .map(
      ({ id, target }) =>
        html`, <a href="${incidentHref(id)}"><span class="vh">${wording.word} </span>${shownTarget(target)}</a>`,
    );
  const hidden = line.length - mostNames;
  const more = hidden > 0 ? ` ${words.andMore(hidden)}` : '';
  return html`<li><a href="${incidentHref(first.id)}"><span class="state ${shapeOf(wording.word)}">${wording.word} </span>${shownTarget(first.target)}</a>${links}${more}: <span class="wrap">${foreign(latestCause(first))}</span> <span class="soft small">${words.began} ${recentMoment(startedAt)}${acknowledged === null ? '' : `; ${words.acknowledged}: ${acknowledged.why}`}${held === null ? '' : `; ${held.why}`}</span></li>`;
}
