import type { Clock } from '#kernel/clock.ts';
import type { Log } from '#kernel/log.ts';
import type { Random } from '#kernel/random.ts';
import type { AccessRules } from '../access.ts';
import type { Checks } from '../checks.ts';
import type { Limits } from '../limits.ts';
import type { ServicePages } from '../ports.ts';
import type { DestinationLimits } from '../destinations.ts';

/** What the routes of the check service work with. */
export interface ServiceOptions {
  readonly checks: Checks;
  readonly limits: Limits;
  readonly destinations: DestinationLimits;
  readonly access: AccessRules;
  /** The last part of node identifiers. */
  readonly nodeDomain: string;
  /** The most nodes for one check. */
  readonly maxNodes: number;
  /** Without a slash at its end, or null: then each request tells. */
  readonly publicUrl: string | null;
  /** Whether to answer as the public service does if that differs from the interface. */
  readonly compatible: boolean;
  readonly pages: ServicePages;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}
