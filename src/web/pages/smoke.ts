import { formatSeconds } from '#kernel/units.ts';
import type { LiveTarget } from '../state/board.ts';
import type { Spread } from '../state/spread.ts';
import { html, type Markup, nothing } from './markup.ts';
import { percent } from './overview.ts';
import { texts } from './texts.ts';

const [wide, high] = [12, 64];
// A round is no wider than this share of the row, however few there were.
const leastRounds = 40;

/** Loss and spread of the last rounds, a row for each node on one scale from zero up; nothing if a check sends no echoes. */
export function smoke({ spreads }: Pick<LiveTarget, 'spreads'>): Markup {
  const rows = [...spreads].filter(([, all]) => all.length > 0);
  if (rows.length === 0) return nothing;
  const words = texts.target;
  const top = Math.max(0, ...rows.flatMap(([, all]) => all.map(({ most }) => most ?? 0)));
  const rounds = Math.max(leastRounds, ...rows.map(([, all]) => all.length));
  return html`<h2>${words.smoke}</h2><div class="scroll" tabindex="0" role="region" aria-label="${words.smoke}" data-part="smoke"><table><caption>${words.smokeCaption}</caption><tbody>${rows.map(
    ([node, all]) => row(node, all, top, rounds),
  )}</tbody></table></div>`;
}

function row(node: string, all: readonly Spread[], top: number, rounds: number): Markup {
  const known = all.flatMap(({ least, most }) => (least === null || most === null ? [] : [{ least, most }]));
  const lost = percent(all.reduce((sum, { loss }) => sum + loss, 0) / all.length);
  const least = known.length === 0 ? '–' : formatSeconds(Math.min(...known.map((one) => one.least)));
  const most = known.length === 0 ? '–' : formatSeconds(Math.max(...known.map((one) => one.most)));
  const label = texts.target.smokeOf(node, lost, least, most);
  const shapes = all.map((spread, index) => shapeOf(spread, (rounds - all.length + index) * wide, top));
  return html`<tr><th scope="row">${node}</th><td class="grow"><svg class="smoke" viewBox="0 0 ${rounds * wide} ${high}" preserveAspectRatio="none" role="img" aria-label="${label}">${shapes}</svg></td><td class="num small soft">${least} – ${most}<br>${texts.target.lost(lost)}</td></tr>`;
}

function shapeOf({ dueAt, loss, least, mean, most }: Spread, x: number, top: number): Markup {
  const y = (seconds: number) => high - (seconds / (top || 1)) * (high - 4);
  const lost =
    loss === 0
      ? nothing
      : html`<rect class="f-down" x="${x + 1}" y="0" width="${wide - 2}" height="${(loss * high).toFixed(1)}"/>`;
  const band =
    least === null || mean === null || most === null
      ? nothing
      : html`<rect class="smoke-band" x="${x}" y="${y(most).toFixed(1)}" width="${wide}" height="${Math.max(y(least) - y(most), 1).toFixed(1)}"/><rect class="smoke-line" x="${x}" y="${(y(mean) - 0.75).toFixed(1)}" width="${wide}" height="1.5"/>`;
  const times = least === null || most === null ? '' : ` ${formatSeconds(least)} – ${formatSeconds(most)}`;
  return html`<g><title>${new Date(dueAt).toISOString()}${times}, ${texts.target.lost(percent(loss))}</title>${band}${lost}</g>`;
}
