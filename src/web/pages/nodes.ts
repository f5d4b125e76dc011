import { checkOf, probedTypeNames } from '#checks/index.ts';
import type { NodeStatus } from '#service/ports.ts';
import { formatSeconds } from '#kernel/units.ts';
import type { Assets } from '../assets/assets.ts';
import { worldMap } from './map.ts';
import { html, type Markup, nothing, state } from './markup.ts';
import { overloadNotice, type ShownOverload } from './overload.ts';
import { texts } from './texts.ts';

/** A node, and what is known of it besides. */
export interface NodeValue extends Omit<NodeStatus, 'capabilities'> {
  readonly capabilities: Readonly<
    Partial<Record<string, NodeStatus['capabilities'][keyof NodeStatus['capabilities']]>>
  >;
  /** How many targets it votes on; null if there is no monitor. */
  readonly targets: number | null;
  /** The share of its votes that others did not agree with; null if there is nothing to compare. */
  readonly disagreement: number | null;
}

export const nodesTitle = (nodes: readonly NodeValue[]): string =>
  texts.nodes.sentence(
    nodes.filter(({ online }) => online).length,
    nodes
      .filter(({ online }) => !online)
      .map(({ info, starting = false }) => ({ name: info.name, isStarting: starting })),
  );

export function nodesContent(nodes: readonly NodeValue[], assets: Assets, overload: ShownOverload): Markup {
  const words = texts.nodes;
  const columns = columnsOf(nodes);
  const worst = nodes.every(({ online }) => online) ? 'up' : nodes.some(({ online }) => online) ? 'partial' : 'down';
  const rows = nodes.map((node) => {
    return html`<tr id="${node.info.name}">
      <th scope="row">${node.info.name}</th>
      <td>${healthOf(node)}</td>
      ${columns.map(({ name, cell, kind }) => html`<td class="${kind}" data-label="${name}">${cell(node)}</td>`)}
    </tr>`;
  });
  return html`<div data-part="head">
      <h1>${state(nodes.length === 0 ? 'unknown' : worst, '')} ${nodesTitle(nodes)}</h1>
      <p class="lead">${words.lead}</p>
    </div>
    ${overloadNotice(overload)}
    <div data-part="map">
      ${worldMap(
        nodes.map(({ info, online }) => ({ node: info, state: online ? 'up' : 'unknown' })),
        assets,
      )}
    </div>
    <div class="scroll" tabindex="0" role="region" aria-label="${words.title}" data-part="nodes">
      <table class="cards">
        <thead>
          <tr>
            <th scope="col">${words.node}</th>
            <th scope="col">${words.health}</th>
            ${columns.map(({ name, kind }) => html`<th scope="col" class="${kind}">${name}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${rows}
        </tbody>
      </table>
    </div>
    <p class="small soft">${columns.flatMap(({ meaning }) => meaning ?? []).join(' ')}</p>`;
}

function healthOf({ online, starting, reason }: NodeValue): Markup {
  const words = texts.nodes;
  if (starting === true) return state('unknown', words.starting);
  const health = online ? state('up', words.online) : state('unknown', words.away);
  return html`${health}${reason === null ? nothing : html`<div class="small soft wrap">${reason}</div>`}`;
}

interface NodeColumn {
  readonly name: string;
  readonly kind: string;
  readonly cell: (node: NodeValue) => Markup | string;
  /** What it says, if its name does not. */
  readonly meaning?: string;
}

// A column that is empty for all nodes is omitted.
function columnsOf(nodes: readonly NodeValue[]): readonly NodeColumn[] {
  const words = texts.nodes;
  const figure = (
    name: string,
    read: (node: NodeValue) => string | null,
    more: Partial<NodeColumn> = {},
  ): readonly NodeColumn[] =>
    nodes.every((node) => read(node) === null)
      ? []
      : [{ name, kind: 'num', cell: (node) => read(node) ?? '', ...more }];
  return [
    { name: words.place, kind: '', cell: ({ info }) => placeOf(info) },
    ...figure(words.network, ({ info }) => [info.asn, info.ip].filter((part) => part !== '').join(' ') || null, {
      kind: '',
    }),
    { name: words.capabilities, kind: '', cell: capabilitiesOf },
    ...figure(words.targets, ({ targets }) => (targets === null ? null : String(targets))),
    { name: words.load, kind: 'num', cell: ({ running, queued }) => words.queued(running, queued) },
    {
      name: words.lag,
      kind: 'num',
      cell: ({ lagSeconds, online }) => (online ? formatSeconds(lagSeconds) : ''),
      meaning: words.meanings.lag,
    },
    ...figure(
      words.clock,
      ({ clockOffsetSeconds: offset = null }) =>
        offset === null ? null : `${offset < 0 ? '−' : '+'}${formatSeconds(Math.abs(offset))}`,
      { meaning: words.meanings.clock },
    ),
    ...figure(
      words.disagreement,
      ({ disagreement }) => (disagreement === null ? null : `${Number((disagreement * 100).toPrecision(3))} %`),
      { meaning: words.meanings.disagreement },
    ),
    ...figure(words.spool, ({ spooled = null }) => (spooled === null ? null : String(spooled)), {
      meaning: words.meanings.spool,
    }),
    { name: words.version, kind: 'num', cell: ({ version = null, online }) => version ?? (online ? words.here : '') },
  ];
}

function placeOf({ city, country }: NodeValue['info']): Markup | string {
  const place = [city, country].filter((part) => part !== '').join(', ');
  return place === '' ? html`<span class="soft">${texts.report.unknownPlace}</span>` : place;
}

const isOffered = (type: string) => probedTypeNames.some((name) => name === type);

// The others take something that the operator of a node gives it: none is missing where nothing was given.
const generalTypes = probedTypeNames.filter((type) => checkOf(type).needs === null);
const isGeneral = (type: string) => generalTypes.some((name) => name === type);

function capabilitiesOf({ capabilities }: NodeValue): Markup {
  const types = Object.entries(capabilities).flatMap(([type, capability]) =>
    capability === undefined || !isOffered(type) ? [] : [{ type, capability }],
  );
  const able = types.filter(({ capability }) => capability.able).map(({ type }) => type);
  const plugins = types.flatMap(({ type, capability }) =>
    capability.able && capability.has !== undefined ? [`${type}: ${capability.has.join(', ')}`] : [],
  );
  const isAll = generalTypes.every((type) => able.includes(type));
  const unable = types.map(({ type, capability }) =>
    capability.able || !isGeneral(type)
      ? nothing
      : html` <details>
          <summary>${type} ✕</summary>
          <span class="small">${capability.reason}</span>
        </details>`,
  );
  return html`${isAll ? texts.nodes.allTypes : able.filter(isGeneral).join(' ')}${plugins.map((one) => html` <span class="small">${one}</span>`)}${unable}`;
}
