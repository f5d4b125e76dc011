import type { ConfigSource } from '#config/apply/reload.ts';
import type { Config } from '#config/config.ts';
import { WatchpostError } from '#kernel/errors.ts';

/** The configuration as it is now, for a hub that follows; or why there is none, a line for each mistake. Its name and its database stay. */
export async function loadAgain(
  source: ConfigSource | null,
  { data, hubs }: Config,
): Promise<Config | readonly string[]> {
  if (source === null) return ['the source of the configuration is unknown'];
  try {
    return { ...(await source.load()), data, hubs };
  } catch (error) {
    if (!(error instanceof WatchpostError)) throw error;
    return error.message.split('\n');
  }
}
