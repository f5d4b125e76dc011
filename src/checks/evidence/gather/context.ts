import type { ProbeContext, ProbeEnvironment } from '../../check.ts';
import type { OwnServers } from '../../dns/probe.ts';
import type { RegistrationLookup } from '../../domain/lookup.ts';
import type { tracePath } from '../../path/trace.ts';
import type { Tokens } from '../../http/token.ts';
import type { EvidencePlan } from '../plan.ts';
import type { Redaction } from '../redaction.ts';
import type { Spec } from '../spec.ts';

/** What gathering shares on a node. */
export interface GatherTools {
  readonly environment: ProbeEnvironment;
  readonly lookup: RegistrationLookup;
  readonly tokens: Tokens;
  readonly tracePath: typeof tracePath;
  /** The node's own name servers. */
  readonly ownServers: OwnServers;
  /** The port of an authoritative name server. */
  readonly namePortOf: (address: string) => number;
  /** Where a walk from the root begins. */
  readonly rootServers: readonly string[];
}

export interface GatherContext {
  readonly spec: Spec;
  readonly plan: EvidencePlan;
  /** Its signal ends with the time of the part. */
  readonly context: ProbeContext;
  readonly tools: GatherTools;
  readonly redaction: Redaction;
}

/** Why a part is missing, where that is no failure of the target. */
export class PartUnavailableError extends Error {
  override readonly name = 'PartUnavailableError';
}
