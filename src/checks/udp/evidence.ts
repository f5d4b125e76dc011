import { endpointOf, portOf } from '../endpoint.ts';
import type { EvidencePlan } from '../evidence/plan.ts';
import { secretsInText } from '../evidence/redaction.ts';
import { isUdpPreset, payloadBytes } from './payload.ts';
import { presetNameAt } from './presets.ts';
import type { Spec } from './spec.ts';

/** The path to the port, and the reply. */
export function evidence({ host, send, timeout }: Spec): EvidencePlan {
  const endpoint = endpointOf(host);
  const port = portOf(endpoint);
  const preset = isUdpPreset(send) ? send : send === undefined ? presetNameAt(port) : null;
  const bytes = isUdpPreset(send) || send === undefined ? Buffer.from('\r\n\r\n') : payloadBytes(send);
  return {
    name: endpoint.name,
    path: { protocol: 'udp', port, sparesPort: true },
    datagram: { port, payload: preset ?? bytes },
    timeoutMs: timeout,
    secrets: preset !== null || send === undefined ? [] : secretsInText(bytes.toString('utf8')),
  };
}
