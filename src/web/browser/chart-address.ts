// What the chart shows is in the address of the page, so that a link shows the same and Back undoes a step.
import { queryWith } from './query.ts';

/** How the chart shows its span. */
export interface ChartMode {
  /** The only node that is shown; null for all. */
  readonly node: string | null;
  readonly isLog: boolean;
  readonly isSmoke: boolean;
}

export function modeOf(search: string): ChartMode {
  const query = new URLSearchParams(search);
  return { node: query.get('node'), isLog: query.get('scale') === 'log', isSmoke: query.get('view') === 'smoke' };
}

const burstMs = 1_000;

/** Changes the address of the page. */
export interface ChartAddress {
  /** `isStep`: one of many small ones, such as those of a wheel; a burst of them is one step of Back. */
  readonly go: (changes: Readonly<Record<string, string | null>>, isStep?: boolean) => void;
}

export function createAddress(changed: () => void): ChartAddress {
  let burst: ReturnType<typeof setTimeout> | null = null;
  const endBurst = () => {
    if (burst !== null) clearTimeout(burst);
    burst = null;
  };
  addEventListener('popstate', () => {
    endBurst();
    changed();
  });
  return {
    go(changes, isStep = false) {
      const search = queryWith(location.search, changes);
      if (search === location.search) return;
      const url = `${location.pathname}${search}`;
      if (isStep && burst !== null) history.replaceState(null, '', url);
      else history.pushState(null, '', url);
      endBurst();
      if (isStep) burst = setTimeout(endBurst, burstMs);
      changed();
    },
  };
}
