import type { EvidencePlan } from '../evidence/plan.ts';
import { evidenceFamily } from '../families.ts';
import type { Spec } from './spec.ts';

/** The path by echo requests. */
export function evidence({ host, family, timeout }: Spec): EvidencePlan {
  return {
    name: host,
    family: evidenceFamily(family),
    path: { protocol: 'icmp', port: null },
    timeoutMs: timeout,
    secrets: [],
  };
}
