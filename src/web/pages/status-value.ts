import type { Clock } from '#kernel/clock.ts';
import type { Board } from '../state/board.ts';
import type { Notes } from '../state/notes.ts';
import type { PastKeeper } from './past.ts';
import { type PastOutages, pastMs } from './status-past.ts';
import { type PlannedMaintenance, serviceOf, type StatusService, type StatusValue } from './status.ts';
import { pastThreads } from './status-threads.ts';

/** The configured status pages by name. */
export type ConfiguredPages = Readonly<Record<string, ConfiguredPage>>;

export interface ConfiguredPage {
  readonly title: string;
  readonly targets: Readonly<Record<string, string>>;
  readonly groups: Readonly<Record<string, readonly string[]>>;
  readonly color?: string | undefined;
  /** Whether visitors can subscribe to it by mail. */
  readonly subscribe?: boolean | undefined;
  /** The host name at which this page is at `/`. */
  readonly domain?: string | undefined;
  readonly links: Readonly<Record<string, string>>;
  readonly logo: { readonly type: string; readonly bytes: Buffer; readonly digest: string } | null;
}

export interface StatusSources {
  readonly board: Board;
  readonly past: PastKeeper;
  readonly pages: () => ConfiguredPages;
  readonly notes: Pick<Notes, 'list' | 'since'>;
  /** Current and upcoming maintenance windows and silences, in order of their beginning. */
  readonly ahead: () => readonly Window[];
  readonly outages: Pick<PastOutages, 'latest'>;
  readonly clock: Clock;
}

/** A time span without notifications about some targets. */
interface Window {
  readonly targets: 'all' | readonly string[];
  readonly from: number;
  readonly to: number;
}

const mostAhead = 10;

/** What the status page of this name shows; null if there is none. */
export type StatusReader = (name: string) => StatusValue | null;

/** Reads status pages from memory; the value holds only what the page shows. */
export function readStatus({ board, past, pages, notes, ahead, outages, clock }: StatusSources): StatusReader {
  return (name) => {
    const page = Object.hasOwn(pages(), name) ? pages()[name] : undefined;
    if (page === undefined) return null;
    const now = clock.now();
    const current = notes.list(name);
    const live = new Map(board.targets().map((target) => [target.name, target]));
    // Not awaited: the page shows the history as last read.
    void past.want([...live.keys()], 0);
    const services = Object.entries(page.targets).map(([name, shown]) => {
      const target = live.get(name);
      return serviceOf(shown, name, target, target === undefined ? null : past.of(target));
    });
    return {
      title: page.title,
      canSubscribe: page.subscribe === true,
      services,
      notes: current,
      pastNotes: pastThreads(notes.since(name, now - pastMs), current),
      maintenance: maintenanceOf(ahead(), services),
      groups: Object.entries(page.groups).map(([heading, targets]) => ({ name: heading, targets })),
      outages: outages.latest(name),
      now,
    };
  };
}

/** What of these windows the page shows: those at the same time as one, for the calendar and the feed name them by it. */
function maintenanceOf(windows: readonly Window[], services: readonly StatusService[]): readonly PlannedMaintenance[] {
  const spans = Map.groupBy(windows, ({ from, to }) => `${from} ${to}`);
  return [...spans.values()]
    .flatMap((together) => {
      const includes = (target: string) =>
        together.some(({ targets }) => targets === 'all' || targets.includes(target));
      const names = services.flatMap(({ name, target }) => (includes(target) ? [name] : []));
      const [first] = together;
      return first === undefined || names.length === 0 ? [] : [{ from: first.from, to: first.to, services: names }];
    })
    .slice(0, mostAhead);
}
