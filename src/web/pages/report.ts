import { checkOf, type CheckSpec, type Outcome } from '#checks/index.ts';
import { formatSeconds } from '#kernel/units.ts';
import type { Assets } from '../assets/assets.ts';
import { startOptionsOf } from './start-options.ts';
import { targetHref } from './links.ts';
import { worldMap } from './map.ts';
import { foreign, html, type Markup, moment, nothing, state } from './markup.ts';
import { type ReportResult, outcomes } from './outcomes.ts';
import { type CardContent, cardName } from './status-card.ts';
import { texts } from './texts.ts';

/** An ad-hoc check, with the results of its nodes so far. */
export interface ReportValue {
  readonly id: string;
  readonly createdAt: number;
  readonly spec: CheckSpec;
  readonly results: readonly ReportResult[];
}

export const isDone = ({ results }: ReportValue): boolean => results.every(({ outcome }) => outcome !== null);

/** The report in one sentence: "http https://example.com: 6 of 8 nodes got a good answer; 2 did not". */
export function reportTitle({ spec, results }: ReportValue): string {
  const host = `${spec.type} ${spec.host}`;
  const count = (status: Outcome['status']) => results.filter(({ outcome }) => outcome?.status === status).length;
  const counts = { up: count('up'), down: count('down'), unknown: count('unknown'), all: results.length };
  const answered = counts.up + counts.down + counts.unknown;
  if (answered < results.length) return texts.report.waiting(host, answered, results.length);
  return texts.report.outcome(host, checkOf(spec.type).table.did, counts, figuresOf(results));
}

// One figure says nothing about the others.
function figuresOf(results: ReportValue['results']): { readonly median: string | null; readonly lost: string | null } {
  const times = results.flatMap(({ outcome }) => outcome?.seconds ?? []).toSorted((one, other) => one - other);
  const losses = results.flatMap(({ outcome }) => outcome?.facts['loss'] ?? []);
  const lost = losses.reduce((sum, share) => sum + share, 0) / losses.length;
  const median = times.length < 2 ? undefined : times[Math.floor((times.length - 1) / 2)];
  return {
    median: median === undefined ? null : formatSeconds(median),
    lost: lost > 0 ? `${Number((lost * 100).toPrecision(2))} %` : null,
  };
}

/** What a picture of the report shows: a field for each node. */
export const reportCard = (value: ReportValue): CardContent => ({
  worst: overall(value),
  services: value.results.map(({ outcome }) => stateOf(outcome)),
});

/** What links to the report show of it: its sentence and its picture (Open Graph protocol). */
export function reportHead(value: ReportValue, base: string): Markup {
  const title = reportTitle(value);
  const page = `${base}${reportHref(value)}`;
  // Another picture has another address.
  const image = `${base}${cardHref(value)}?state=${cardName(reportCard(value))}`;
  const meta = {
    'og:type': 'website',
    'og:site_name': texts.name,
    'og:title': title,
    'og:url': page,
    'og:image': image,
    'og:image:type': 'image/png',
    'og:image:width': '1200',
    'og:image:height': '630',
    'og:image:alt': title,
  };
  return html`<meta name="twitter:card" content="summary_large_image">
${Object.entries(meta).map(([name, content]) => html`<meta property="${name}" content="${content}">\n`)}`;
}

const reportHref = ({ id }: Pick<ReportValue, 'id'>) => `/check-report/${id}`;
const cardHref = (value: Pick<ReportValue, 'id'>) => `${reportHref(value)}/card.png`;

/** `target`: the target whose check it was; null for an ad-hoc check. */
export function reportContent(value: ReportValue, target: string | null, assets: Assets): Markup {
  const { spec, id, createdAt } = value;
  const other = `/check?type=${spec.type}&host=${encodeURIComponent(spec.host)}`;
  return html`<div data-part="head">
      <h1>${state(overall(value), '')} ${foreign(reportTitle(value))}</h1>
      <p class="lead">${texts.report.started} ${moment(createdAt)}. ${target === null ? '' : texts.report.asConfigured(target)} ${texts.report.kept}</p>
    </div>
    <div class="row acts">
      ${target === null ? againForm(value) : ownForm(target)}
      ${
        target === null
          ? html`<a class="button quiet" href="${other}">${texts.report.other}</a>`
          : html`<a class="button quiet" href="${targetHref(target)}">${texts.report.toTarget(target)}</a>`
      }
      <a class="button quiet" href="/api/v1/checks/${id}">${texts.report.json}</a>
      ${isDone(value) ? html`<a class="button quiet" href="${cardHref(value)}" download="check-${id}.png">${texts.report.picture}</a>` : nothing}
      <button class="quiet" type="button" data-copy="${texts.report.shared}">${texts.report.share}</button>
    </div>
    ${outcomes({ check: spec.type, results: value.results, label: texts.report.result, byRow: true })}
    <div data-part="map">
      ${worldMap(
        value.results.map(({ node, outcome }) => ({
          node,
          state: stateOf(outcome),
          seconds: outcome?.seconds ?? null,
        })),
        assets,
      )}
    </div>`;
}

function againForm({ spec, results }: ReportValue): Markup {
  const options = startOptionsOf(spec);
  return html`<form method="post" action="/api/v1/checks">
    <input type="hidden" name="type" value="${spec.type}" /><input type="hidden" name="host" value="${spec.host}" />${
      Object.keys(options).length === 0
        ? nothing
        : html`<input type="hidden" name="options" value="${JSON.stringify(options)}" />`
    }${results.map(
      ({ node }) => html`<input type="hidden" name="node" value="${node.name}" />`,
    )}<button>${texts.report.again}</button>
  </form>`;
}

const ownForm = (target: string): Markup =>
  html`<form method="post" action="/actions/check">
    <input type="hidden" name="target" value="${target}" /><button>${texts.report.again}</button>
  </form>`;

function overall(value: ReportValue): CardContent['worst'] {
  const states = value.results.map(({ outcome }) => stateOf(outcome));
  if (!isDone(value)) return 'waiting';
  if (states.every((one) => one === 'unknown')) return 'unknown';
  if (!states.includes('down')) return 'up';
  return states.includes('up') ? 'partial' : 'down';
}

const stateOf = (outcome: Outcome | null): CardContent['worst'] => outcome?.status ?? 'waiting';
