import type { HistoryReader } from '#history/reader.ts';
import type { TimeSpan } from '#history/span.ts';
import type { Clock } from '#kernel/clock.ts';
import { dayMs } from '#kernel/units.ts';
import { monthSpan } from '#kernel/zoned-time.ts';

/** An incident as visitors of a status page see it: the name on the page, and when. */
export interface PastOutage {
  readonly service: string;
  readonly from: number;
  /** Null while it goes on. */
  readonly to: number | null;
}

export interface PastOutagesOptions {
  readonly reader: Pick<HistoryReader, 'incidents'>;
  /** The targets of a page with their names on it; null if there is no such page. */
  readonly targetsOf: (page: string) => Readonly<Record<string, string>> | null;
  readonly clock: Clock;
  /** Called if the history cannot be read; what was read before is shown. */
  readonly failed: (error: unknown) => void;
}

/** Past incidents of status pages: public, so each span is read at most once in 15 seconds. */
export interface PastOutages {
  /** Those that were open in the last 14 days, the newest first, as they were read last: never waits. */
  latest(page: string): readonly PastOutage[];
  /** Those that were open for a part of a month, `2026-11`, in UTC. */
  ofMonth(page: string, month: string): Promise<readonly PastOutage[]>;
}

interface ReadSpan {
  readonly at: number;
  outages: readonly PastOutage[];
}

/** How long a status page shows what is over, in milliseconds. */
export const pastMs = 14 * dayMs;
const freshMs = 15_000;
const mostSpans = 200;
// Of each target; a page shows fewer than its archive.
const mostLatest = 100;
const mostOfMonth = 1_000;

export function createPastOutages({ reader, targetsOf, clock, failed }: PastOutagesOptions): PastOutages {
  const spans = new Map<string, ReadSpan>();

  async function read(page: string, span: TimeSpan, limit: number): Promise<readonly PastOutage[]> {
    const all: PastOutage[] = [];
    for (const [target, service] of Object.entries(targetsOf(page) ?? {})) {
      const { incidents } = await reader.incidents({ ...span, target, severity: 'critical', isHeld: false, limit });
      for (const { startedAt, endedAt } of incidents) all.push({ service, from: startedAt, to: endedAt });
    }
    return all.toSorted((a, b) => b.from - a.from);
  }

  return {
    latest(page) {
      const now = clock.now();
      const known = spans.get(page);
      if (known === undefined || now - known.at >= freshMs) {
        const next: ReadSpan = { at: now, outages: known?.outages ?? [] };
        spans.set(page, next);
        read(page, { from: now - pastMs, to: now + 1 }, mostLatest).then((outages) => (next.outages = outages), failed);
      }
      return spans.get(page)?.outages ?? [];
    },
    async ofMonth(page, month) {
      const key = `${page} ${month}`;
      const known = spans.get(key);
      if (known !== undefined && clock.now() - known.at < freshMs) return known.outages;
      const outages = await read(page, monthSpan(month, 'UTC'), mostOfMonth);
      for (const oldest of spans.keys()) {
        if (spans.size < mostSpans) break;
        spans.delete(oldest);
      }
      spans.set(key, { at: clock.now(), outages });
      return outages;
    },
  };
}
