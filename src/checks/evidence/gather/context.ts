import type { ProbeContext, ProbeEnvironment } from '../../check.ts';
import type { OwnServers } from '../../dns/probe.ts';
import type { RegistrationLookup } from '../../domain/lookup.ts';
import type { PathTrace } from '../../path/trace.ts';
import type { Tokens } from '../../http/token.ts';
import type { Prober } from '../../check.ts';
import type { Detail as PingDetail } from '../../ping/detail.ts';
import type { Spec as PingSpec } from '../../ping/spec.ts';
import type { EvidencePlan } from '../plan.ts';
import type { Redaction } from '../redaction.ts';
import type { Spec } from '../spec.ts';

/** Traces the path to an address that the gate has judged. */
export type TracePath = (
  options: {
    readonly address: string;
    readonly family: 4 | 6;
    readonly protocol: PathTrace['protocol'];
    readonly port: number | null;
    readonly maxHops: number;
    readonly queries: number;
    readonly waitMs: number;
    readonly localAddress?: string | undefined;
  },
  dependencies: Pick<ProbeEnvironment, 'clock' | 'random'>,
  signal: AbortSignal,
) => Promise<PathTrace>;

/** What gathering shares on a node. */
export interface GatherTools {
  readonly environment: ProbeEnvironment;
  readonly lookup: RegistrationLookup;
  readonly tokens: Tokens;
  readonly pinger: Prober<PingSpec, PingDetail>;
  /** Absent if this node traces no paths. */
  readonly tracePath?: TracePath | undefined;
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
