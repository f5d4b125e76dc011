import type { Clock } from '#kernel/clock.ts';
import { statusParts, statusTitle, type StatusValue } from '../pages/status.ts';
import type { StatusReader } from '../pages/status-value.ts';
import type { Board } from '../state/board.ts';
import type { StreamOptions } from '../streams.ts';

interface DrawnPart {
  readonly markup: string;
  readonly version: number;
}

// Many viewers come in a second, and get the same.
const drawnParts = new WeakMap<StatusValue, ReadonlyMap<string, string>>();

function partsOf(value: StatusValue): ReadonlyMap<string, string> {
  const known = drawnParts.get(value) ?? new Map([...statusParts(value)].map(([name, part]) => [name, String(part)]));
  drawnParts.set(value, known);
  return known;
}

// Notes, maintenance and the past are read so often, besides every change of a target.
const lookMs = 5_000;

/** The events of status pages: of a page, named by the view, the parts that changed, and nothing of any other target. */
export function statusEvents(
  read: StatusReader,
  board: Pick<Board, 'onChange'>,
  clock: Clock,
): Pick<StreamOptions, 'version' | 'since' | 'onChange'> {
  const drawn = new Map<string, Map<string, DrawnPart>>();
  let version = clock.now();
  return {
    version: () => version,
    since(from, page) {
      const value = read(page);
      if (value === null) return [];
      const known = drawn.get(page) ?? new Map<string, DrawnPart>();
      drawn.set(page, known);
      const parts: Record<string, string> = {};
      for (const [name, markup] of partsOf(value)) {
        if (known.get(name)?.markup !== markup) known.set(name, { markup, version: (version += 1) });
        if ((known.get(name)?.version ?? 0) > from) parts[name] = markup;
      }
      if (Object.keys(parts).length === 0) return [];
      return [{ event: 'patch', data: { title: statusTitle(value), parts } }];
    },
    onChange(listener) {
      const changes = board.onChange(listener);
      let timer = clock.after(lookMs, function look() {
        listener();
        timer = clock.after(lookMs, look);
      });
      return {
        [Symbol.dispose]() {
          changes[Symbol.dispose]();
          timer[Symbol.dispose]();
        },
      };
    },
  };
}
