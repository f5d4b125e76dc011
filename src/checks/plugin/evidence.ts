import type { EvidencePlan } from '../evidence/plan.ts';
import { secretsInText } from '../evidence/redaction.ts';
import type { Spec } from './spec.ts';

/** The path to the port if there is one, otherwise by echo requests. */
export function evidence({ host, family, port, timeout, values }: Spec): EvidencePlan {
  return {
    name: host,
    family,
    path: port === undefined ? { protocol: 'icmp', port: null } : { protocol: 'tcp', port },
    timeoutMs: timeout,
    secrets: Object.values(values).flatMap(secretsInText),
  };
}
