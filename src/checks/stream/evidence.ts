import type { EvidencePlan } from '../evidence/plan.ts';
import { secretsInText } from '../evidence/redaction.ts';
import { bytesOf } from '../payload.ts';
import type { Step } from './step.ts';
import type { Tls } from './tls.ts';

/** Where a dialogue is held, and what TLS in it is like. */
interface DialoguePlace {
  readonly name: string;
  readonly family: 4 | 6 | undefined;
  readonly timeoutMs: number;
  readonly port: number;
  readonly tls: Tls;
  /** What is sent is ours, so that there is no secret in it. */
  readonly isPreset: boolean;
}

/** The evidence of a target that is talked to over one connection: the path, TLS if a step starts it, and what is received. */
export function dialoguePlan(
  steps: readonly Step[],
  { name, family, timeoutMs, port, tls, isPreset }: DialoguePlace,
): EvidencePlan {
  const upgrade = steps.findIndex((step) => step.do === 'starttls');
  const serverName = tls.server_name ?? name;
  // The handshake alone says nothing that the part about TLS does not.
  const talks = steps.some((step) => step.do !== 'starttls');
  return {
    name,
    family,
    timeoutMs,
    path: { protocol: 'tcp', port },
    ...(upgrade !== -1 && { tls: { port, serverName, ca: tls.ca, alpn: [], before: steps.slice(0, upgrade) } }),
    ...(talks && { dialogue: { port, steps, tls } }),
    secrets: isPreset ? [] : steps.flatMap(secretsOfStep),
  };
}

function secretsOfStep(step: Step): readonly string[] {
  return step.do === 'send' ? secretsInText(bytesOf(step.payload).toString('utf8')) : [];
}
