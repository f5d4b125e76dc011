import { endpointOf, portOf } from '../endpoint.ts';
import type { EvidencePlan } from '../evidence/plan.ts';
import { secretsInText } from '../evidence/redaction.ts';
import { presetAt, presets } from './presets.ts';
import { payloadBytes, type Spec, UdpPreset } from './spec.ts';

/** The path to the port, and the reply. */
export function evidence({ host, send, timeout }: Spec): EvidencePlan {
  const endpoint = endpointOf(host);
  const port = portOf(endpoint);
  const named = UdpPreset.safeParse(send);
  const preset = named.success ? presets[named.data] : send === undefined ? presetAt(port) : null;
  const bytes = preset !== null || send === undefined ? Buffer.from('\r\n\r\n') : payloadBytes(send);
  return {
    name: endpoint.name,
    path: { protocol: 'udp', port, sparesPort: true },
    datagram: { port, make: preset === null ? () => bytes : (random) => preset.make(random) },
    timeoutMs: timeout,
    secrets: preset !== null || send === undefined ? [] : secretsInText(bytes.toString('utf8')),
  };
}
