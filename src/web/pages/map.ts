import type { NodeInfo } from '#checks/index.ts';
import { worldSize } from '../assets/drawn-world.ts';
import type { WorldMap } from '../assets/world.ts';
import type { Assets } from '../assets/assets.ts';
import { formatSeconds } from '#kernel/units.ts';
import { html, type Markup, nothing, type StateName } from './markup.ts';
import { texts } from './texts.ts';

/** A node on the map, with its tooltip. */
export interface MarkedNode {
  readonly node: NodeInfo;
  readonly state: StateName;
  /** How long it took, for a map by time. */
  readonly seconds?: number | null;
}

// Of several nodes in a country the mark shows what most asks for a look.
const order: readonly StateName[] = ['down', 'partial', 'unknown', 'waiting', 'maintenance', 'up'];

/** The world with a mark for each country that has nodes; nothing if no place is known. */
export function worldMap(nodes: readonly MarkedNode[], { world, url }: Pick<Assets, 'world' | 'url'>): Markup {
  const countries = Map.groupBy(nodes, ({ node }) => node.countryCode);
  const marks = [...countries].flatMap(([country, inside]) => {
    const place = country === '' ? null : world.placeOf(country);
    return place === null ? [] : [mark(place, country, inside)];
  });
  if (marks.length === 0) return nothing;
  const { width, height } = worldSize;
  const isTimed = nodes.some(({ seconds }) => typeof seconds === 'number');
  return html`<figure class="map">
    <svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${labelOf(nodes, world)}">
      <image href="${url('world.svg')}" width="${width}" height="${height}" />
      ${marks}
    </svg>
    <figcaption>${texts.map.caption}${isTimed ? ` ${texts.map.byTime(timeBounds.map(formatSeconds))}` : ''}</figcaption>
  </figure>`;
}

function mark([x, y]: readonly [number, number], country: string, inside: readonly MarkedNode[]): Markup {
  const states = inside.map(({ state }) => state);
  const isMixed = new Set(states.filter((state) => state === 'up' || state === 'down')).size > 1;
  const shown = isMixed ? 'partial' : (order.find((state) => states.includes(state)) ?? 'unknown');
  const names = inside.map(
    ({ node, state }) => `${node.name}${node.city === '' ? '' : ` ${node.city}`}: ${texts.states[state]}`,
  );
  const count = inside.length === 1 ? (inside[0]?.node.name ?? '') : `${country} × ${inside.length}`;
  return html`<g
    ><title>${names.join('\n')}</title>${shape(shown, x, y, timeClass(inside))}<text x="${x + 12}" y="${y + 5}">${count}</text></g
  >`;
}

const timeBounds = [0.05, 0.15, 0.4];

// The colour of the slowest of them; none where nothing was timed.
function timeClass(inside: readonly MarkedNode[]): string {
  const times = inside.flatMap(({ seconds }) => seconds ?? []);
  if (times.length === 0) return '';
  const slowest = Math.max(...times);
  return ` time-${timeBounds.filter((bound) => slowest >= bound).length}`;
}

function shape(state: StateName, x: number, y: number, time: string): Markup {
  const kind = `m-${state}`;
  if (state === 'down') return html`<path class="${kind}" d="M${x - 8} ${y - 6}h16l-8 14z" />`;
  if (state === 'partial') return html`<path class="${kind}" d="M${x} ${y - 9}l9 9-9 9-9-9z" />`;
  if (state === 'maintenance')
    return html`<path class="${kind}" d="M${x - 6} ${y - 7}h4v14h-4zM${x + 2} ${y - 7}h4v14h-4z" />`;
  return html`<circle class="${kind}${state === 'up' ? time : ''}" cx="${x}" cy="${y}" r="7" />`;
}

function labelOf(nodes: readonly MarkedNode[], world: WorldMap): string {
  const shown = nodes.filter(({ node }) => node.countryCode !== '' && world.placeOf(node.countryCode) !== null);
  return `${texts.map.label}: ${shown.map(({ node, state }) => `${node.name} ${texts.states[state]}`).join(', ')}`;
}
