// A long list begins with a part of its rows. The others come when someone is about to look at them, or looks for one.

import { addRows, restOfRows } from './parts.ts';

const nearPx = 1_500;
let running: Promise<void> | null = null;

/** Fetches the rows that the page does not have yet; resolves at once if it has all. */
export async function completeRows(load: (url: string) => Promise<Document | null>): Promise<void> {
  return (running ??= complete(load).finally(() => (running = null)));
}

async function complete(load: (url: string) => Promise<Document | null>): Promise<void> {
  const href = restOfRows()?.querySelector('a')?.href;
  if (href === undefined) return;
  const next = await load(href);
  if (next === null) return;
  // A page that is drawn anew, now or when the viewer comes back, has all rows again.
  history.replaceState(history.state, '', href);
  if (!addRows(next)) document.dispatchEvent(new CustomEvent('moved'));
}

/** Has the rows fetched when their place comes near, or when the browser is to search the page. */
export function completeWhenNear(need: () => void): { look: () => void } {
  const observer = new IntersectionObserver(
    (entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) need();
    },
    { rootMargin: `${nearPx}px` },
  );
  document.addEventListener('keydown', ({ key, ctrlKey, metaKey }) => {
    if (key === 'f' && (ctrlKey || metaKey)) need();
  });
  addEventListener('beforeprint', need);
  const look = () => {
    observer.disconnect();
    const rest = restOfRows();
    // It says at once whether that is near already.
    if (rest !== null) observer.observe(rest);
  };
  look();
  return { look };
}
