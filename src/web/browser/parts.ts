// The parts of a page that are drawn anew: elements with `data-part`, as the server wrote them.

import { holdDays } from './days.ts';
import { applyFolds } from './folds.ts';
import { localise } from './moments.ts';

// How long a part is marked as new.
const newMs = 1_600;

const written = new Map<string, string>();
const partsOf = (root: ParentNode) =>
  [...root.querySelectorAll('[data-part]')].flatMap((element) => {
    const name = element.getAttribute('data-part');
    return name === null ? [] : [{ name, element }];
  });
/** The part of this name on the page. */
export const elementOf = (name: string): Element | null => document.querySelector(`[data-part="${CSS.escape(name)}"]`);

/** Remembers the parts of the page as they are, and writes its times in the viewer's zone. */
export function remember(): void {
  written.clear();
  for (const { name, element } of partsOf(document)) written.set(name, element.outerHTML);
  localise(document);
  applyFolds(document);
}

/** A part was changed in place: it is as the server would write it now. */
export function keep(name: string, element: Element): void {
  unmark(element);
  written.set(name, element.outerHTML);
}

// Without an animation: it would have the page drawn for each frame, and on a busy page something is always new.
function markAsNew(element: Element): void {
  element.classList.add('new');
  setTimeout(() => unmark(element), newMs);
}

function unmark(element: Element): void {
  element.classList.remove('new');
  if (element.getAttribute('class') === '') element.removeAttribute('class');
}

/** Draws a part anew if it is on the page and has changed. */
export function exchange(name: string, markup: string): void {
  if (written.get(name) === markup) return;
  const old = elementOf(name);
  if (old === null) return;
  const fresh = parse(markup, old.parentElement);
  if (fresh === null) return;
  keepFolds(old, fresh);
  localise(fresh);
  applyFolds(fresh);
  markAsNew(fresh);
  written.set(name, markup);
  const place = placeOfFocus(old);
  const tellDays = holdDays(old);
  old.replaceWith(fresh);
  tellDays(fresh);
  if (place !== null) reachable(fresh)[place]?.focus({ preventScroll: true });
  document.dispatchEvent(new CustomEvent('part', { detail: name }));
}

// By their names, or by their order if they have none; folds with a name that are new stay as the server wrote them.
function keepFolds(old: Element, fresh: Element): void {
  const known = new Map(foldsOf(old));
  for (const [name, fold] of foldsOf(fresh)) {
    const before = known.get(name);
    if (before !== undefined || fold.dataset['fold'] === undefined) fold.open = before?.open ?? false;
  }
}

const foldsOf = (root: Element) =>
  [...root.querySelectorAll('details')].map((one, index) => [one.dataset['fold'] ?? String(index), one] as const);

/** A row or tile of a list; without markup it does not belong there any more. */
export interface PageListItem {
  readonly part: string;
  readonly list: string;
  readonly markup: string | null;
}

/** Draws an item of a list anew, at its place in the order; false if the page has no such list, or nothing is left in it. */
export function place({ part, list, markup }: PageListItem): boolean {
  const old = elementOf(part);
  const holder = document.querySelector(`[data-list="${CSS.escape(list)}"]`);
  if (markup === null) {
    old?.remove();
    written.delete(part);
    return old === null || holder === null || holder.querySelector('[data-order]') !== null;
  }
  if (holder === null) return false;
  if (old !== null && holder.contains(old)) exchange(part, markup);
  else {
    old?.remove();
    const fresh = parse(markup, holder);
    if (fresh === null || isLater(fresh, holder)) return true;
    localise(fresh);
    markAsNew(fresh);
    written.set(part, markup);
    holder.append(fresh);
  }
  const element = elementOf(part);
  if (element !== null) settle(element, holder);
  return true;
}

// It comes with the rows that the page does not have yet.
function isLater(row: Element, holder: Element): boolean {
  if (restOfRows() === null) return false;
  const last = [...holder.children].findLast((one) => one !== row && orderOf(one) !== null);
  return last === undefined || (orderOf(last) ?? '') < (orderOf(row) ?? '');
}

/** What stands for the rows that a long list does not have yet, with a link to the page that has all; null if there is no more. */
export const restOfRows = (): Element | null => document.querySelector('[data-rest]');

/** Adds the rows of another version of the page that its lists do not have yet; false if it has other lists. */
export function addRows(next: Document): boolean {
  for (const list of next.querySelectorAll('[data-list]')) {
    const holder = document.querySelector(`[data-list="${CSS.escape(list.getAttribute('data-list') ?? '')}"]`);
    if (holder === null) return false;
    const known = new Set(partsOf(holder).map(({ name }) => name));
    const more = partsOf(list).filter(({ name, element }) => orderOf(element) !== null && !known.has(name));
    for (const { name, element } of more) written.set(name, element.outerHTML);
    holder.append(...more.map(({ element }) => element));
    for (const { element } of more) settle(element, holder);
    localise(holder);
  }
  restOfRows()?.remove();
  return true;
}

const orderOf = (element: Element | null) => element?.getAttribute('data-order') ?? null;

// Those that stand right already are not looked for among all.
function settle(element: Element, holder: Element): void {
  const own = orderOf(element) ?? '';
  const [before, after] = [orderOf(element.previousElementSibling), orderOf(element.nextElementSibling)];
  if ((before === null || before <= own) && (after === null || own <= after)) return;
  const next = [...holder.children].find((one) => one !== element && (orderOf(one) ?? '') > own) ?? null;
  const focus = placeOfFocus(element);
  holder.insertBefore(element, next);
  if (focus !== null) reachable(element)[focus]?.focus({ preventScroll: true });
}

const reachable = (root: Element) =>
  [root, ...root.querySelectorAll('*')]
    .filter((one) => one instanceof HTMLElement)
    .filter(({ tabIndex }) => tabIndex >= 0);

// Keyboard users stay on the element that they had reached.
function placeOfFocus(old: Element): number | null {
  const place = reachable(old).findIndex((one) => one === document.activeElement);
  return place === -1 ? null : place;
}

// A chart is drawn and moved by the element that it began with.
function keepChart(next: Document): void {
  const drawn = document.querySelector<HTMLElement>('[data-series]');
  const fresh = next.querySelector<HTMLElement>('[data-series]');
  if (drawn !== null && fresh?.dataset['series'] === drawn.dataset['series']) fresh?.replaceWith(drawn);
}

// Rows stand in tables only, so the parent's own kind reads them.
function parse(markup: string, parent: Element | null): Element | null {
  const holder = document.createElement(parent?.tagName ?? 'div');
  holder.innerHTML = markup;
  return holder.firstElementChild;
}

/** Puts another version of the page in place of this one: part by part if both have the same parts and lists in the same order. */
export function takeOver(next: Document): void {
  const outline = (root: Document) =>
    [...root.querySelectorAll('[data-part], [data-list]')]
      .map((one) => `${one.getAttribute('data-part')} ${one.getAttribute('data-list')}`)
      .join('\n');
  if (outline(next) === outline(document)) {
    for (const { name, element } of partsOf(next)) exchange(name, element.outerHTML);
  } else {
    const fields = fieldsOf(document);
    keepChart(next);
    document.querySelector('main')?.replaceWith(next.querySelector('main') ?? '');
    remember();
    for (const [id, { value, hasFocus }] of fields) {
      const field = document.getElementById(id);
      if (!(field instanceof HTMLInputElement)) continue;
      field.value = value;
      if (hasFocus) field.focus({ preventScroll: true });
    }
  }
  if (document.title !== next.title) document.title = next.title;
}

// A field with focus keeps its text.
const fieldsOf = (root: Document) =>
  new Map(
    [...root.querySelectorAll<HTMLInputElement>('main input[id]')].map(
      (field) => [field.id, { value: field.value, hasFocus: field === root.activeElement }] as const,
    ),
  );
