import type { Clock } from '#kernel/clock.ts';
import { WatchpostError } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import { fingerprintOf, joinPrints, printOfConfig, printOfNamed } from './changes.ts';
import type { Config } from '../config.ts';
import { createTargetEditor } from '../edit/edit-targets.ts';
import { followLists } from '../lists/follow-lists.ts';
import { filesLike, orExplain } from '../read/source.ts';
import { loadConfig, type LoadOptions } from '../load.ts';
import type { ConfigSource } from './reload.ts';

export interface ConfigSourceOptions extends Pick<LoadOptions, 'path' | 'env'> {
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * A configuration in files: those at the path, those that they name, and the lists of targets at addresses. What such a list says
 * is taken if it makes a good configuration; otherwise what it said before holds on.
 */
export function openConfigSource({ path, env, clock, log }: ConfigSourceOptions): ConfigSource & Disposable {
  const lists = followLists({ clock, log });
  let named: readonly string[] = [];
  let watched: readonly string[] = [];
  let read: string | null = null;

  async function loadOnce(signal?: AbortSignal): Promise<Config> {
    const prints = new Map<string, Promise<string>>();
    const own = await orExplain(path, printOfConfig(path));
    const onFile = async (file: string) => {
      const print = prints.get(file) ?? printOfNamed(file);
      prints.set(file, print);
      await print;
    };
    lists.begin();
    try {
      const loaded = await loadConfig({ path, env, readList: lists.read, onFile, signal });
      ({ watched } = loaded);
      return loaded;
    } catch (error) {
      // Files by patterns are watched as before. Those of this load that were read have their prints already.
      const others = (await Promise.all(watched.map(filesLike))).flat();
      await Promise.all(others.map(onFile));
      throw error;
    } finally {
      // Those of a file with a mistake in it count as well: the mistake may be theirs.
      named = [...prints.keys()];
      const files = await Promise.all(prints.values());
      read = [joinPrints(own, files), lists.lastRead()].join('\n');
    }
  }

  async function loadWithout(error: WatchpostError, signal?: AbortSignal): Promise<Config> {
    const takeBack = lists.refuse();
    const before = { named, read };
    if (takeBack === null) throw error;
    try {
      const loaded = await loadOnce(signal);
      const problems = error.message.split('\n');
      log.warn({ problems }, 'target list is not valid; keeping the last valid one');
      return loaded;
    } catch {
      // The files themselves are wrong: that error is reported, with everything.
      takeBack();
      ({ named, read } = before);
      throw error;
    }
  }

  return {
    async load(signal): Promise<Config> {
      let loaded: Config;
      try {
        loaded = await loadOnce(signal);
      } catch (error) {
        if (!(error instanceof WatchpostError)) throw error;
        loaded = await loadWithout(error, signal);
      }
      await lists.accept();
      return loaded;
    },
    fingerprint: async () => [await fingerprintOf(path, watched, named), lists.look()].join('\n'),
    fingerprintRead: () => read,
    lists: () => lists.states(),
    editor: createTargetEditor({ path, env }),
    [Symbol.dispose]: () => lists[Symbol.dispose](),
  };
}
