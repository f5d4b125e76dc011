import { rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Clock } from '#kernel/clock.ts';
import { sha256 } from '#kernel/hash.ts';
import type { Log } from '#kernel/log.ts';
import { makePrivateFolder, privateMode } from '#kernel/private-files.ts';
import { askList, keptText, type ReadList, type TargetList } from './listed-targets.ts';
import type { WatchList } from './watch-list.ts';

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
  /** The same of what `read` gave last. */
  lastRead(): string;
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
  /** What was known when it was read last. */
  lastRead: string | null;
  inForce: string | null;
  refused: string | null;
  /** What was said last. */
  said: string | null;
  trouble: string | null;
  failures: number;
  hadAt: number | null;
  nextAt: number;
  isAsked: boolean;
  /** Ends the wait for a change, if there is one. */
  watching: AbortController | null;
  /** Why it cannot be watched, as it was logged; null if it can, or need not. */
  unwatched: string | null;
}

// So that a rollout, which changes many objects, is read a few times and not a hundred.
const restMs = 5_000;
const settleMs = 1_000;
const leastWatchMs = 30_000;

/** Logs once when a list cannot be fetched, and once when it can again; the last content stays until then. */
export function followLists({ clock, log }: { readonly clock: Clock; readonly log: Log }): FollowedLists {
  const closing = new AbortController();
  const all = new Map<string, ListTracker>();
  const named = new Set<string>();
  const current = () => [...all].flatMap(([key, one]) => (named.has(key) ? [one] : []));

  const printOf = (textOf: (one: ListTracker) => string | null) =>
    current()
      .map((one) => `${one.list.name} ${sha256(textOf(one) ?? '')}`)
      .join('\n');

  async function ask(one: ListTracker): Promise<void> {
    one.isAsked = true;
    one.watching?.abort(new Error('the list is asked again'));
    const { text, trouble, watch } = await askList(one.list, clock, closing.signal);
    one.isAsked = false;
    one.nextAt = clock.elapsed() + one.list.everyMs;
    if (closing.signal.aborted) return;
    if (watch !== undefined) void waitForChange(one, watch, { clock, log, closed: closing.signal });
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
      lastRead: null,
      inForce: kept,
      refused: null,
      said: null,
      trouble: null,
      failures: 0,
      hadAt: null,
      nextAt: 0,
      isAsked: false,
      watching: null,
      unwatched: null,
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
      one.lastRead = one.known;
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
      return printOf(({ known }) => known);
    },
    lastRead: () => printOf(({ lastRead }) => lastRead),
    async accept() {
      for (const [key, one] of all) {
        if (named.has(key)) continue;
        one.watching?.abort(new Error('the list is no longer followed'));
        all.delete(key);
      }
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

/** Has the list asked before its time once it has changed. */
async function waitForChange(
  one: ListTracker,
  watch: WatchList,
  { clock, log, closed }: { readonly clock: Clock; readonly log: Log; readonly closed: AbortSignal },
): Promise<void> {
  const watching = new AbortController();
  one.watching = watching;
  const askedAt = clock.elapsed();
  const about = { from: one.list.name, url: one.list.shown };
  try {
    const end = await watch(AbortSignal.any([watching.signal, closed]));
    if (typeof end === 'object') {
      if (one.unwatched !== end.trouble) log.info({ ...about, trouble: end.trouble }, 'cannot watch target list');
      one.unwatched = end.trouble;
      return;
    }
    one.unwatched = null;
    // A proxy may end each watch at once.
    if (end === 'ended' && clock.elapsed() - askedAt < leastWatchMs) return;
    one.nextAt = Math.min(one.nextAt, Math.max(askedAt + restMs, clock.elapsed() + settleMs));
  } catch (error) {
    if (!watching.signal.aborted && !closed.aborted) throw error;
  }
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
