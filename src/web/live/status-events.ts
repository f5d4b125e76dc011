import type { Clock } from '#kernel/clock.ts';
import type { VisitorLanguage } from '#languages/language.ts';
import type { Languages } from '#languages/languages.ts';
import { statusParts, statusTitle, type StatusValue } from '../pages/status.ts';
import type { StatusReader } from '../pages/status-value.ts';
import type { Board } from '../state/board.ts';
import type { StreamOptions } from '../streams.ts';

interface DrawnPart {
  readonly markup: string;
  readonly version: number;
}

// Many viewers come in a second, and get the same.
const drawnParts = new WeakMap<StatusValue, Map<string, ReadonlyMap<string, string>>>();

function partsOf(value: StatusValue, language: VisitorLanguage): ReadonlyMap<string, string> {
  const known = drawnParts.get(value) ?? new Map<string, ReadonlyMap<string, string>>();
  drawnParts.set(value, known);
  const parts =
    known.get(language.code) ??
    new Map([...statusParts(value, language)].map(([name, part]) => [name, String(part)] as const));
  known.set(language.code, parts);
  return parts;
}

// Notes, maintenance and the past are read so often, besides every change of a target.
const lookMs = 5_000;

/** The events of status pages: of a page in a language, as the view names them, the parts that changed, and nothing of any other target. */
export function statusEvents(
  read: StatusReader,
  languages: Languages,
  board: Pick<Board, 'onChange'>,
  clock: Clock,
): Pick<StreamOptions, 'version' | 'since' | 'onChange'> {
  const drawn = new Map<string, Map<string, DrawnPart>>();
  let version = clock.now();
  return {
    version: () => version,
    since(from, view) {
      const [code = '', page = ''] = view.split(' ');
      const [value, language] = [read(page), languages.get(code)];
      if (value === null || language === undefined) return [];
      const known = drawn.get(view) ?? new Map<string, DrawnPart>();
      drawn.set(view, known);
      const parts: Record<string, string> = {};
      for (const [name, markup] of partsOf(value, language)) {
        if (known.get(name)?.markup !== markup) known.set(name, { markup, version: (version += 1) });
        if ((known.get(name)?.version ?? 0) > from) parts[name] = markup;
      }
      if (Object.keys(parts).length === 0) return [];
      return [{ event: 'patch', data: { title: statusTitle(value, language), parts } }];
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
