// The bars of days: hover, touch and arrow keys tell of a day in the line below, Enter and a click open it.

import { dayWords } from './moments.ts';

const dayMs = 86_400_000;
const usual = new WeakMap<Element, readonly Node[]>();

/** The bars that tell of the day under the pointer, and where it was seen last. */
let pointed: { readonly bars: HTMLElement; readonly x: number; readonly y: number } | null = null;

const barsOf = (event: Event): HTMLElement | null =>
  event.target instanceof Element ? event.target.closest<HTMLElement>('.days') : null;
const lineOf = (bars: Element) => bars.parentElement?.querySelector('[data-readout]') ?? null;

function showDay(bars: HTMLElement, wanted: number): void {
  const { from = '', days = '[]', words = '[]' } = bars.dataset;
  const all: number[] = JSON.parse(days);
  const known: string[] = JSON.parse(words);
  const index = Math.min(Math.max(wanted, 0), all.length - 1);
  const line = lineOf(bars);
  if (line === null) return;
  if (!usual.has(line)) usual.set(line, [...line.childNodes]);
  line.setAttribute('role', 'status');
  line.textContent = `${dayWords(dayAt(from, index))}: ${known[all[index] ?? 0] ?? ''}`;
  bars.dataset['at'] = String(index);
  bars.style.setProperty('--at', String(index / all.length));
  bars.style.setProperty('--day', String(1 / all.length));
}

const dayAt = (from: string, index: number): string =>
  new Date(Date.parse(from) + index * dayMs).toISOString().slice(0, 10);

function forget(bars: HTMLElement): void {
  const line = lineOf(bars);
  delete bars.dataset['at'];
  if (line === null) return;
  line.replaceChildren(...(usual.get(line) ?? line.childNodes));
  usual.delete(line);
}

function openDay({ dataset: { href, from = '', at } }: HTMLElement): void {
  if (href === undefined || at === undefined) return;
  const [first, next] = [Number(at), Number(at) + 1].map((index) => `${dayAt(from, index)}T00:00:00Z`);
  location.assign(`${href}?${new URLSearchParams({ from: first ?? '', to: next ?? '' }).toString()}`);
}

const lastOf = ({ dataset: { days = '[]' } }: HTMLElement): number => JSON.parse(days).length - 1;

function onPointer(event: PointerEvent): void {
  const bars = barsOf(event);
  if (bars !== pointed?.bars) leave();
  if (bars === null) return;
  pointed = { bars, x: event.clientX, y: event.clientY };
  const { left, width } = bars.getBoundingClientRect();
  showDay(bars, Math.floor(((event.clientX - left) / Math.max(1, width)) * (lastOf(bars) + 1)));
}

function leave(): void {
  if (pointed !== null) forget(pointed.bars);
  pointed = null;
}

const barsIn = (root: Element) => [...root.querySelectorAll<HTMLElement>('.days')];

/**
 * To be called before an element is replaced, and what it returns once the other stands in its place: bars in that tell of the day
 * that those in their place told of, if they are under the pointer or have the focus.
 */
export function holdDays(old: Element): (fresh: Element) => void {
  const held = barsIn(old).map((bars) => {
    const { from = '', at } = bars.dataset;
    return at === undefined ? null : { day: dayAt(from, Number(at)), hasFocus: bars === document.activeElement };
  });
  return (fresh) => {
    for (const [index, bars] of barsIn(fresh).entries()) {
      const one = held[index] ?? null;
      if (one === null || !(takePointer(bars) || one.hasFocus)) continue;
      showDay(bars, (Date.parse(one.day) - Date.parse(bars.dataset['from'] ?? '')) / dayMs);
    }
  };
}

// A browser says only with the next move that other bars are under the pointer.
function takePointer(bars: HTMLElement): boolean {
  if (pointed === null || document.elementFromPoint(pointed.x, pointed.y)?.closest('.days') !== bars) return false;
  pointed = { ...pointed, bars };
  return true;
}

/** Listens for all bars of the page, those that are drawn later too. */
export function showDayOnPointer(): void {
  document.addEventListener('pointermove', onPointer);
  document.addEventListener('pointerdown', onPointer);
  // The finger scrolls.
  document.addEventListener('pointercancel', leave);
  document.addEventListener('pointerout', ({ relatedTarget, pointerType }) => {
    // The focus and the click come once the finger is lifted: they are about the same day.
    if (pointerType === 'touch') return;
    if (!(relatedTarget instanceof Node && pointed?.bars.contains(relatedTarget) === true)) leave();
  });
  document.addEventListener('click', (event) => {
    const bars = barsOf(event);
    if (bars !== null) openDay(bars);
  });
  document.addEventListener('focusin', (event) => {
    const bars = barsOf(event);
    if (bars !== null && bars.dataset['at'] === undefined) showDay(bars, lastOf(bars));
  });
  document.addEventListener('focusout', (event) => {
    const bars = barsOf(event);
    if (bars !== null) forget(bars);
  });
  document.addEventListener('keydown', (event) => {
    const bars = barsOf(event);
    if (bars === null || event.ctrlKey || event.metaKey || event.altKey) return;
    const last = lastOf(bars);
    const at = Number(bars.dataset['at'] ?? last);
    const moves: Readonly<Record<string, number>> = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: last };
    const to = moves[event.key];
    if (to !== undefined) showDay(bars, to);
    else if (event.key === 'Enter') openDay(bars);
    else return;
    event.preventDefault();
  });
}
