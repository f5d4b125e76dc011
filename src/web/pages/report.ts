import { checkOf, type CheckSpec, type Outcome, startOptionsOf } from '#checks/index.ts';
import type { Assets } from '../assets/assets.ts';
import { targetHref } from './links.ts';
import { worldMap } from './map.ts';
import { foreign, html, type Markup, moment, nothing, state, type StateName } from './markup.ts';
import { type ReportResult, outcomes } from './outcomes.ts';
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
  return texts.report.outcome(host, checkOf(spec.type).table.did, counts);
}

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
      <button class="quiet" type="button" data-copy="${texts.report.shared}">${texts.report.share}</button>
    </div>
    ${outcomes({ check: spec.type, results: value.results, label: texts.report.result, byRow: true })}
    <div data-part="map">
      ${worldMap(
        value.results.map(({ node, outcome }) => ({ node, state: stateOf(outcome) })),
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

function overall(value: ReportValue): StateName {
  const states = value.results.map(({ outcome }) => stateOf(outcome));
  if (!isDone(value)) return 'waiting';
  if (states.every((one) => one === 'unknown')) return 'unknown';
  if (!states.includes('down')) return 'up';
  return states.includes('up') ? 'partial' : 'down';
}

const stateOf = (outcome: Outcome | null): StateName => outcome?.status ?? 'waiting';
