import { defineCheck } from '../check.ts';
import { parseEndpoint, portOf } from '../endpoint.ts';
import { loadHandshakeReader } from '../tcp-info.ts';
import { lines } from './lines.ts';
import { probe } from './probe.ts';
import { fromRow, toRow } from './row.ts';
import { Detail, Spec } from './spec.ts';

export const tcp = defineCheck({
  type: 'tcp',
  summary:
    'Opens a TCP connection, takes the time of the handshake, and where asked for speaks TLS, sends and expects.',
  Spec,
  Detail,
  phases: ['resolve', 'connect', 'tls', 'first_byte'],
  facts: ['certificate_expires_at'],
  deadlineMs: (spec) => spec.timeout,
  port(spec) {
    const endpoint = parseEndpoint(spec.host);
    return endpoint.ok ? String(portOf(endpoint)) : null;
  },
  async start(environment) {
    const readHandshake = await loadHandshakeReader();
    return {
      capability: { able: true },
      probe: async (spec, context) => probe(spec, { ...context, environment, readHandshake }),
      close: async () => {},
    };
  },
  lines,
  toRow,
  fromRow,
});
