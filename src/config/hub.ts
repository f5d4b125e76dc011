import { dirname, join } from 'node:path';
import type { ConfigFile } from './shape/schema.ts';

/** One of several hubs that share one history. */
export interface ConfiguredHub {
  readonly name: string;
  /** On how many NATS servers the log is kept. */
  readonly replicas: number;
  /** How long another hub may be degraded before that is notified. */
  readonly notifyAfterMs: number;
}

export function resolveHub(
  { name, replicas, notify_after }: NonNullable<ConfigFile['hubs']>,
  servers: number,
): ConfiguredHub {
  return { name, replicas: replicas ?? (servers >= 3 ? 3 : 1), notifyAfterMs: notify_after };
}

/** The file of a key beside that of the key that all hubs may share: of one hub alone, or of a node inside a hub. */
export const hubSeedFile = ({ seedFile }: SharedSeed, hub: string) => join(dirname(seedFile), `hub-${hub}.nk`);
export const embeddedSeedFile = ({ seedFile }: SharedSeed, node: string) => join(dirname(seedFile), `${node}.nk`);

interface SharedSeed {
  readonly seedFile: string;
}
