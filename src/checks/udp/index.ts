import { defineCheck } from '../check.ts';
import { parseEndpoint, portOf } from '../endpoint.ts';
import { lines } from './lines.ts';
import { Detail, Spec } from './options.ts';
import { probe } from './probe.ts';
import { fromRow, toRow } from './row.ts';

export const udp = defineCheck({
  type: 'udp',
  summary: 'Sends a datagram: a reply is up, a closed port is down, silence is open or filtered.',
  Spec,
  Detail,
  phases: ['resolve'],
  facts: [],
  // The timeout counts once for the name and once for the reply.
  deadlineMs: ({ timeout }) => 2 * timeout,
  port({ host }) {
    const endpoint = parseEndpoint(host);
    return endpoint.ok ? String(portOf(endpoint)) : null;
  },
  start: async (environment) => ({
    capability: { able: true },
    probe: async (spec, context) => probe(spec, context, environment),
    close: async () => {},
  }),
  lines,
  toRow,
  fromRow,
});
