import { fingerprintOf } from './changes.ts';
import type { Config } from './config.ts';
import { loadConfig, type LoadOptions } from './load.ts';
import type { ConfigSource } from './reload.ts';

/** A configuration in files: those at the path, and those that they name. */
export function openConfigSource(options: Pick<LoadOptions, 'path' | 'env'>): ConfigSource {
  let named: readonly string[] = [];
  let watched: readonly string[] = [];
  return {
    async load(): Promise<Config> {
      const files: string[] = [];
      try {
        const loaded = await loadConfig({ ...options, onFile: (file) => void files.push(file) });
        ({ watched } = loaded);
        return loaded;
      } finally {
        // Those of a file with a mistake in it count as well: the mistake may be theirs.
        if (files.length > 0 || named.length > 0) named = files;
      }
    },
    fingerprint: async () => fingerprintOf(options.path, watched, named),
  };
}
