import { dirname, join } from 'node:path';
import type { NatsAccess } from '#config/config.ts';

/** Where the key of a node inside one of several hubs is: beside the key of the hub. */
export const embeddedSeedFile = ({ seedFile }: Pick<NatsAccess, 'seedFile'>, node: string) =>
  join(dirname(seedFile), `${node}.nk`);
