import { isDeepStrictEqual } from 'node:util';
import type { Target } from '../judge/target.ts';
import type { Watch } from './watch.ts';

/** Names of targets by what new settings did to them. */
export interface WatchSetChange {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
}

/** A target that is wanted in another way than before; `before` is null if it is new. */
export interface ChangedTarget {
  readonly before: Target | null;
  readonly target: Target;
}

/** Which targets are watched, and how. */
export interface WatchSet {
  /** Takes other targets for those that are wanted, and gives those that are new or others; `enforce` brings them into force. */
  want(targets: readonly Target[]): { readonly applied: WatchSetChange; readonly changed: readonly ChangedTarget[] };
  /**
   * Has the watches follow what is wanted. A target that stays as it is is not disturbed; one that changes is watched anew once
   * its round that runs is over.
   */
  enforce(): void;
  /** Asks for a round of a target besides the scheduled ones: see `Watch`. */
  request(target: string, isNeeded: boolean): void;
  /** Names of the targets that are wanted. */
  names(): readonly string[];
  /** No new rounds from now on. */
  stop(): void;
  /** Ends what runs, too. */
  cut(): void;
  /** Resolves when no watch runs any more. */
  idle(): Promise<void>;
}

export interface WatchSetOptions {
  readonly start: (target: Target) => Watch;
  /** Called between two watches of a target, and once for each that is wanted no more: how it was watched, and how it will be. */
  readonly handOver: (name: string, last: Target | null, next: Target | null) => void;
  /** Called if a watch ended by a defect of ours. */
  readonly failed: (error: unknown) => void;
}

interface WatchSlot {
  readonly name: string;
  /** How it is watched now, and how it is to be. */
  current: Target | null;
  wanted: Target | null;
  watch: Watch | null;
  /** Until `current` is `wanted`; null if it is. */
  change: Promise<void> | null;
  /** Whether a round is needed once it is. */
  isRequested: boolean;
}

/** `known` names the targets that something is remembered about. */
export function createWatchSet(known: Iterable<string>, options: WatchSetOptions): WatchSet {
  const { start, handOver, failed } = options;
  const places = new Map<string, WatchSlot>();
  let isStopping = false;
  for (const name of known) placeOf(name);

  function placeOf(name: string): WatchSlot {
    const place = places.get(name) ?? {
      name,
      current: null,
      wanted: null,
      watch: null,
      change: null,
      isRequested: false,
    };
    places.set(name, place);
    return place;
  }

  function follow(place: WatchSlot): void {
    if (place.change !== null) return;
    place.watch?.stop();
    if (place.watch === null) return exchange(place);
    place.change = place.watch.ended.then(() => {
      place.change = null;
      exchange(place);
    }, failed);
  }

  function exchange(place: WatchSlot): void {
    const { name, wanted } = place;
    handOver(name, place.current, wanted);
    place.current = wanted;
    place.watch = null;
    if (wanted === null) places.delete(name);
    else if (!isStopping) {
      place.watch = start(wanted);
      if (place.isRequested) place.watch.request(true);
    }
    place.isRequested = false;
  }

  function request(name: string, isNeeded: boolean): void {
    const place = places.get(name);
    if (place?.change === null) place.watch?.request(isNeeded);
    else if (place !== undefined) place.isRequested ||= isNeeded;
  }

  return {
    want(targets) {
      const names = new Set(targets.map(({ name }) => name));
      const applied = { added: [] as string[], changed: [] as string[], removed: [] as string[] };
      const changed: ChangedTarget[] = [];
      for (const target of targets) {
        const place = placeOf(target.name);
        if (isDeepStrictEqual(place.wanted, target)) continue;
        applied[place.wanted === null ? 'added' : 'changed'].push(target.name);
        changed.push({ before: place.wanted, target });
        place.wanted = target;
      }
      for (const place of places.values()) {
        if (names.has(place.name)) continue;
        if (place.wanted !== null) applied.removed.push(place.name);
        place.wanted = null;
      }
      return { applied, changed };
    },
    enforce() {
      for (const place of places.values()) if (place.current !== place.wanted || place.wanted === null) follow(place);
    },
    request,
    names: () => [...places.values()].filter(({ wanted }) => wanted !== null).map(({ name }) => name),
    stop() {
      isStopping = true;
      for (const { watch } of places.values()) watch?.stop();
    },
    cut() {
      for (const { watch } of places.values()) watch?.cut?.();
    },
    async idle() {
      await Promise.all([...places.values()].flatMap(({ watch, change }) => [watch?.ended ?? [], change ?? []].flat()));
    },
  };
}
