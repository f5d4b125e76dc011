import { rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Clock } from '#kernel/clock.ts';
import { sha256 } from '#kernel/hash.ts';
import type { Log } from '#kernel/log.ts';
import { makePrivateFolder, privateMode } from '#kernel/private-files.ts';
import { askList, keptText, type ReadList, type TargetList } from './listed-targets.ts';

/** How a list has come in since the program was started. */
export interface ListState {
  /** The name under `targets_from`. */
  readonly name: string;
  readonly failures: number;
  /** When it was had last, in milliseconds since the epoch; null if it was not. */
  readonly hadAt: number | null;
  /** Whether it was had when it was asked last, and makes a good configuration. */
  readonly isGood: boolean;
}

/** Follows the lists of targets that the configuration names while the program runs. */
export interface FollowedLists extends Disposable {
  /** A configuration is about to be read: only lists that it names are followed from then on. */
  begin(): void;
  readonly read: ReadList;
  /** Those that are followed. */
  states(): readonly ListState[];
  /** Asks those whose time has come, and tells what is known of all: another text if something is new. */
  look(): string;
  /** What was read is in force: it is kept, also for the next start. */
  accept(): Promise<void>;
  /**
   * What was read cannot be put into force: goes back to what was. Null if that is the same; otherwise what takes it back, because
   * going back did not help either.
   */
  refuse(): (() => void) | null;
}

interface ListTracker {
  list: TargetList;
  known: string | null;
  inForce: string | null;
  refused: string | null;
  /** What was said last. */
  said: string | null;
  trouble: string | null;
  failures: number;
  hadAt: number | null;
  nextAt: number;
  isAsked: boolean;
}

/** Logs once when a list cannot be fetched, and once when it can again; the last content stays until then. */
export function followLists({ clock, log }: { readonly clock: Clock; readonly log: Log }): FollowedLists {
  const closing = new AbortController();
  const all = new Map<string, ListTracker>();
  const named = new Set<string>();
  const current = () => [...all].flatMap(([key, one]) => (named.has(key) ? [one] : []));

  async function ask(one: ListTracker): Promise<void> {
    one.isAsked = true;
    const { text, trouble } = await askList(one.list, clock, closing.signal);
    one.isAsked = false;
    one.nextAt = clock.elapsed() + one.list.everyMs;
    if (closing.signal.aborted) return;
    const about = { from: one.list.name, url: one.list.shown };
    if (trouble !== null && one.trouble === null)
      log.warn({ ...about, trouble }, 'cannot fetch target list; keeping the last one');
    if (trouble === null && one.trouble !== null) log.info(about, 'target list is available again');
    one.trouble = trouble;
    if (trouble === null) one.hadAt = clock.now();
    else one.failures += 1;
    one.said = text;
    if (text !== null && text !== one.refused) one.known = text;
  }

  async function follow(list: TargetList): Promise<ListTracker> {
    const kept = await keptText(list);
    const one: ListTracker = {
      list,
      known: kept,
      inForce: kept,
      refused: null,
      said: null,
      trouble: null,
      failures: 0,
      hadAt: null,
      nextAt: 0,
      isAsked: false,
    };
    await ask(one);
    return one;
  }

  return {
    begin: () => named.clear(),
    async read(list) {
      const key = list.keptIn;
      const one = all.get(key) ?? (await follow(list));
      one.list = list;
      all.set(key, one);
      named.add(key);
      return { text: one.known, trouble: one.trouble };
    },
    states: () =>
      current().map(({ list, failures, hadAt, trouble, said, refused }) => {
        const isGood = trouble === null && (said === null || said !== refused);
        return { name: list.name, failures, hadAt, isGood };
      }),
    look() {
      const due = current().filter(({ isAsked, nextAt }) => !isAsked && clock.elapsed() >= nextAt);
      for (const one of due) void ask(one);
      return current()
        .map(({ list, known }) => `${list.name} ${sha256(known ?? '')}`)
        .join('\n');
    },
    async accept() {
      for (const key of all.keys()) if (!named.has(key)) all.delete(key);
      for (const one of current()) {
        if (one.known === one.inForce) continue;
        one.inForce = one.known;
        await keep(one, log);
      }
    },
    refuse() {
      const fresh = current().filter(({ known, inForce }) => known !== inForce);
      for (const one of fresh) [one.refused, one.known] = [one.known, one.inForce];
      if (fresh.length === 0) return null;
      return () => {
        for (const one of fresh) [one.known, one.refused] = [one.refused, null];
      };
    },
    [Symbol.dispose]: () => closing.abort(new Error('the lists are no longer followed')),
  };
}

async function keep({ list, known }: ListTracker, log: Log): Promise<void> {
  if (known === null) return;
  try {
    await makePrivateFolder(dirname(list.keptIn));
    await writeFile(`${list.keptIn}.new`, known, { mode: privateMode });
    await rename(`${list.keptIn}.new`, list.keptIn);
  } catch (error) {
    log.warn({ err: error, from: list.name }, 'cannot save target list for the next start');
  }
}
