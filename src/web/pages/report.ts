import { checkOf, type CheckSpec, type NodeInfo, type Outcome } from '#checks/index.ts';
import { formatSeconds } from '#kernel/units.ts';
import type { Assets } from '../assets/assets.ts';
import { targetHref } from './links.ts';
import { worldMap } from './map.ts';
import { foreign, html, type Markup, moment, nothing, state, type StateName } from './markup.ts';
import { texts } from './texts.ts';
import { lengthOf, waterfall, waterfallLegend } from './waterfall.ts';

/** A check that somebody started, with what each node has said so far. */
export interface ReportValue {
  readonly id: string;
  readonly createdAt: number;
  readonly spec: CheckSpec;
  readonly results: readonly { readonly node: NodeInfo; readonly outcome: Outcome | null }[];
}

export const isDone = ({ results }: ReportValue): boolean => results.every(({ outcome }) => outcome !== null);

/** The report in one sentence: "http https://example.com: 6 of 8 nodes got a good answer; 2 did not". */
export function reportTitle({ spec, results }: ReportValue): string {
  const host = `${spec.type} ${spec.host}`;
  const count = (status: Outcome['status']) => results.filter(({ outcome }) => outcome?.status === status).length;
  const counts = { up: count('up'), down: count('down'), unknown: count('unknown'), all: results.length };
  const answered = counts.up + counts.down + counts.unknown;
  if (answered < results.length) return texts.report.waiting(host, answered, results.length);
  return texts.report.outcome(host, checkOf(spec.type).table.did, counts);
}

/** `target`: the one whose own check it was; null for a check that somebody typed. */
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
      <button class="quiet" type="button" data-copy="${texts.report.shared}" hidden>${texts.report.share}</button>
    </div>
    <div data-part="legend">${waterfallLegend(value.results.map(({ outcome }) => outcome?.phases ?? {}))}</div>
    ${tableOf(value)}
    <div data-part="map">
      ${worldMap(
        value.results.map(({ node, outcome }) => ({ node, state: stateOf(outcome) })),
        assets,
      )}
    </div>`;
}

const againForm = ({ spec, results }: ReportValue): Markup =>
  html`<form method="post" action="/api/v1/checks">
    <input type="hidden" name="type" value="${spec.type}" /><input type="hidden" name="host" value="${spec.host}" />${results.map(
      ({ node }) => html`<input type="hidden" name="node" value="${node.name}" />`,
    )}<button>${texts.report.again}</button>
  </form>`;

const ownForm = (target: string): Markup =>
  html`<form method="post" action="/actions/check">
    <input type="hidden" name="target" value="${target}" /><button>${texts.report.again}</button>
  </form>`;

function overall(value: ReportValue): StateName {
  const states = value.results.map(({ outcome }) => stateOf(outcome));
  if (!isDone(value)) return 'waiting';
  if (states.every((one) => one === 'unknown')) return 'unknown';
  if (!states.includes('down')) return 'up';
  return states.includes('up') ? 'partial' : 'down';
}

const stateOf = (outcome: Outcome | null): StateName => outcome?.status ?? 'waiting';

function tableOf({ spec, results }: ReportValue): Markup {
  const { table } = checkOf(spec.type);
  const { columns } = table;
  const longest = Math.max(0, ...results.map(({ outcome }) => lengthOf(outcome?.phases ?? {})));
  const { node, place, result, time, address, phases } = texts.report;
  const heads = [html`<th scope="col">${time}</th>`, ...columns.map((name) => html`<th scope="col">${name}</th>`)];
  const rows = results.map(({ node, outcome }) => {
    const found = outcome === null ? columns.map(() => '') : table.cells(outcome);
    const where = [node.city, node.country].filter((part) => part !== '').join(', ');
    return html`<tbody data-part="node-${node.name}">
      <tr>
        <th scope="row">${node.name}</th>
        <td class="wide">${where === '' ? html`<span class="soft">${texts.report.unknownPlace}</span>` : where}</td>
        <td>${wordsOf(outcome)}</td>
        <td class="brief">${timeOf(outcome)}</td>
        ${found.map((cell) => html`<td class="wrap">${cellOf(cell)}</td>`)}
        <td class="mono">${outcome?.address ?? ''}</td>
        <td class="wide">${outcome === null ? nothing : waterfall(outcome.phases, longest)}</td>
      </tr>
      ${outcome === null ? nothing : detailsOf(spec, outcome, columns.length + 6)}
    </tbody>`;
  });
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${result}">
    <table>
      <thead>
        <tr>
          <th scope="col">${node}</th>
          <th scope="col" class="wide">${place}</th>
          <th scope="col">${result}</th>
          ${heads}
          <th scope="col">${address}</th>
          <th scope="col" class="wide">${phases}</th>
        </tr>
      </thead>
      ${rows}
    </table>
  </div>`;
}

function wordsOf(outcome: Outcome | null): Markup {
  if (outcome === null) return state('waiting', texts.report.stillWorking);
  return state(outcome.status, texts.states[outcome.status]);
}

const timeOf = (outcome: Outcome | null): string =>
  outcome === null || outcome.seconds === null ? '' : formatSeconds(outcome.seconds);

const cellOf = (cell: string | readonly string[]): Markup | string =>
  typeof cell === 'string'
    ? cell
    : html`${cell.map((line, index) => html`${index === 0 ? nothing : html`<br />`}${foreign(line)}`)}`;

function detailsOf(spec: CheckSpec, outcome: Outcome, width: number): Markup {
  const why =
    outcome.status === 'up'
      ? nothing
      : html`<p class="wrap">
          ${foreign(outcome.failure.message)}
          <span class="soft">${texts.report.by(texts.sources[outcome.failure.source])}</span>
        </p>`;
  const lines = checkOf(spec.type).lines(outcome);
  const more =
    lines.length === 0
      ? nothing
      : html`<details>
          <summary>${texts.report.details}</summary>
          <pre>${lines.join('\n')}</pre>
        </details>`;
  if (why === nothing && more === nothing) return nothing;
  return html`<tr class="more">
    <td colspan="${width}">${why}${more}</td>
  </tr>`;
}
