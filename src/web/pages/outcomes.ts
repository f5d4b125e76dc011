import { checkOf, type CheckTypeName, familyTimes, type NodeInfo, type Outcome, shownNode } from '#checks/index.ts';
import { formatSeconds } from '#kernel/units.ts';
import { codeLink } from './docs-links.ts';
import { foreign, html, type Markup, nothing, state } from './markup.ts';
import { texts } from './texts.ts';
import { lengthOf, waterfall, waterfallLegend } from './waterfall.ts';

/** A node and what it found; null while it works on it. */
export interface ReportResult {
  readonly node: NodeInfo;
  readonly outcome: Outcome | null;
  /** What it has measured so far, as an outcome that is not finished. */
  readonly interim?: Outcome;
}

export interface OutcomesValue {
  readonly check: CheckTypeName;
  readonly results: readonly ReportResult[];
  /** The table in words. */
  readonly label: string;
  /** Whether rows are drawn anew one by one. */
  readonly byRow: boolean;
}

/** The outcomes of the nodes, a row for each with the reason and the details below it. Empty columns are omitted. */
export function outcomes({ check, results, label, byRow }: OutcomesValue): Markup {
  const columns = columnsOf(check, results).filter(({ cells }) => cells.some((cell) => cell !== nothing));
  const part = (name: string) => (byRow ? html` data-part="${name}"` : nothing);
  const heads = columns.map(
    ({ name, kind }) => html`<th scope="col" class="${kind === 'mono' ? '' : kind}">${name}</th>`,
  );
  const shared = byRow ? sharedFailures(results) : new Map<string, readonly string[]>();
  const rows = results.map(
    ({ node, outcome, interim }, row) =>
      html`<tbody${part(`node-${node.name}`)}><tr><th scope="row">${shownNode(node.name)}</th>${columns.map(({ name, kind, cells }) => html`<td class="${kind}" data-label="${name}">${cells[row] ?? nothing}</td>`)}</tr>${outcome === null ? soFar(check, interim, columns.length + 1) : below(check, outcome, columns.length + 1, shared)}</tbody>`,
  );
  const lines = [...shared.values()].map(
    ([text = '', ...nodes]) =>
      html`<li><span class="wrap">${foreign(text)}</span> <span class="soft">${nodes.join(', ')}</span></li>`,
  );
  return html`${byRow ? html`<div${part('failures')}>${lines.length === 0 ? nothing : html`<ul class="plain paper">${lines}</ul>`}</div>` : nothing}<div${part('legend')}>${waterfallLegend(results.map(({ outcome }) => outcome?.phases ?? {}))}</div>
<div class="scroll" tabindex="0" role="region" aria-label="${label}"><table class="cards"><thead${part('heads')}><tr><th scope="col">${texts.report.node}</th>${heads}</tr></thead>${rows}</table></div>`;
}

const sharedBy = 3;

/** Failures that several nodes have in common, by their message: the message and the nodes. They stand above the table, once. */
function sharedFailures(results: readonly ReportResult[]): ReadonlyMap<string, readonly string[]> {
  const messages = Map.groupBy(results, ({ outcome }) =>
    outcome?.status === 'up' ? '' : (outcome?.failure.message ?? ''),
  );
  return new Map(
    [...messages].flatMap(([message, those]) =>
      message === '' || those.length < sharedBy
        ? []
        : [[message, [message, ...those.map(({ node }) => shownNode(node.name))]]],
    ),
  );
}

interface OutcomeColumn {
  readonly name: string;
  readonly kind: 'num' | 'wrap' | 'mono' | 'wide' | '';
  /** One for each row. */
  readonly cells: readonly Markup[];
}

function columnsOf(check: CheckTypeName, results: readonly ReportResult[]): readonly OutcomeColumn[] {
  const { table } = checkOf(check);
  const { place, result, time, families, address, phases } = texts.report;
  const longest = Math.max(0, ...results.map(({ outcome }) => lengthOf(outcome?.phases ?? {})));
  const column = (name: string, kind: OutcomeColumn['kind'], cell: (outcome: Outcome) => Markup): OutcomeColumn => ({
    name,
    kind,
    cells: results.map(({ outcome }) => (outcome === null ? nothing : cell(outcome))),
  });
  return [
    { name: place, kind: 'wide', cells: placesOf(results) },
    { name: result, kind: '', cells: results.map(({ outcome }) => stateOf(outcome)) },
    column(time, 'num', ({ seconds }) => (seconds === null ? nothing : html`${formatSeconds(seconds)}`)),
    column(families, 'num', (outcome) => familiesOf(outcome)),
    ...table.columns.map((name, index) => column(name, 'wrap', (outcome) => cellOf(table.cells(outcome)[index] ?? ''))),
    column(address, 'mono', ({ address: one }) => (one === null ? nothing : html`${one}`)),
    column(phases, 'wide', (outcome) => waterfall(outcome.phases, longest)),
  ];
}

function familiesOf(outcome: Outcome): Markup {
  const times = familyTimes(outcome).map(({ family, seconds }) => `${family} ${formatSeconds(seconds)}`);
  return times.length === 0 ? nothing : html`${times.join(', ')}`;
}

// If no place is known at all there is nothing to say about it.
function placesOf(results: readonly ReportResult[]): readonly Markup[] {
  const places = results.map(({ node }) => [node.city, node.country].filter((part) => part !== '').join(', '));
  const unknown = places.every((one) => one === '')
    ? nothing
    : html`<span class="soft">${texts.report.unknownPlace}</span>`;
  return places.map((one, row) => {
    if (one === '') return unknown;
    const { countryCode = '', asn = '' } = results[row]?.node ?? {};
    return html`${countryCode === '' ? nothing : html`<span class="country" aria-hidden="true">${countryCode.toUpperCase()}</span> `}${one}${asn === '' ? nothing : html` <span class="soft small">${asn}</span>`}`;
  });
}

const stateOf = (outcome: Outcome | null): Markup =>
  outcome === null ? state('waiting', texts.report.stillWorking) : state(outcome.status, texts.states[outcome.status]);

function cellOf(cell: string | readonly string[]): Markup {
  if (typeof cell === 'string') return cell === '' ? nothing : foreign(cell);
  return cell.length === 0 ? nothing : html`${cell.map((line) => html`<div>${foreign(line)}</div>`)}`;
}

function soFar(check: CheckTypeName, interim: Outcome | undefined, width: number): Markup {
  const lines = interim === undefined ? [] : checkOf(check).lines(interim);
  if (lines.length === 0) return nothing;
  return html`<tr class="more"><td colspan="${width}"><pre>${lines.join('\n')}</pre></td></tr>`;
}

function below(check: CheckTypeName, outcome: Outcome, width: number, shared: ReadonlyMap<string, unknown>): Markup {
  const lines = checkOf(check).lines(outcome);
  const why =
    outcome.status === 'up' || shared.has(outcome.failure.message)
      ? nothing
      : html`<p class="wrap">${foreign(outcome.failure.message)} <span class="soft">${texts.report.by(texts.sources[outcome.failure.source])} ${codeLink(outcome.failure.code)}</span></p>`;
  const more =
    lines.length === 0
      ? nothing
      : html`<details><summary>${texts.report.details}</summary><pre>${lines.join('\n')}</pre></details>`;
  if (why === nothing && more === nothing) return nothing;
  return html`<tr class="more"><td colspan="${width}">${why}${more}</td></tr>`;
}
