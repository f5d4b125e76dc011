import type { EvidencePlan } from '../evidence/plan.ts';
import { portOfPath } from '../path/options.ts';
import type { Spec } from './spec.ts';

/** The path by the protocol and port of the check. */
export function evidence(spec: Spec): EvidencePlan {
  const { host, family, protocol, timeout } = spec;
  return { name: host, family, path: { protocol, port: portOfPath(spec) }, timeoutMs: timeout, secrets: [] };
}
