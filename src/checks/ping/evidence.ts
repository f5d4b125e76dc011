import type { EvidencePlan } from '../evidence/plan.ts';
import type { Spec } from './spec.ts';

/** The path by echo requests. */
export function evidence({ host, family, timeout }: Spec): EvidencePlan {
  return { name: host, family, path: { protocol: 'icmp', port: null }, timeoutMs: timeout, secrets: [] };
}
