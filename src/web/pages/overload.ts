import { html, type Markup, nothing } from './markup.ts';
import { overloadTexts as texts } from './overload-texts.ts';

/** What of Watchpost has more to do than it can manage, so that pages show older results than usual. */
export interface ShownOverload {
  /** Whether the hub leaves out results of targets that are up. */
  readonly isOfHub: boolean;
  /** Names of the nodes that leave out checks, in order. */
  readonly nodes: readonly string[];
}

export const noOverload: ShownOverload = { isOfHub: false, nodes: [] };

/** Says that results are older than usual; empty if they are not. */
export function overloadPart({ isOfHub, nodes }: ShownOverload): Markup {
  const line = (words: string, place: string) =>
    html`<p class="notice warn">${words} <a href="/docs/operating#${place}">${texts.more}</a></p>`;
  return html`<div data-part="overload">${isOfHub ? line(texts.hub, 'the-hub-is-overloaded') : nothing}${nodes.length === 0 ? nothing : line(texts.nodes(nodes), 'a-node-is-overloaded')}</div>`;
}

/** The part where it is read out when it changes: what surrounds it stays. */
export const overloadNotice = (overload: ShownOverload): Markup =>
  html`<div role="status">${overloadPart(overload)}</div>`;
