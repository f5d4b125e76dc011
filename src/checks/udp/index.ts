import { isIP } from 'node:net';
import { defineCheck } from '../check.ts';
import { endpointOf, portOf } from '../endpoint.ts';
import { Detail } from './detail.ts';
import { evidence } from './evidence.ts';
import { lines } from './lines.ts';
import { table } from './table.ts';
import { apiOptions } from './over-api.ts';
import { fromRow, shape, toRow } from './row.ts';
import { Spec } from './spec.ts';

export const udp = defineCheck({
  type: 'udp',
  summary: 'Sends a datagram: a reply is up, a closed port is down, silence is open or filtered.',
  Spec,
  Detail,
  phases: ['resolve'],
  facts: ['clock_offset'],
  // The timeout counts once for the name, if there is one, and once for the reply.
  deadlineMs: ({ host, timeout }) => (isIP(endpointOf(host).name) === 0 ? 2 : 1) * timeout,
  apiOptions,
  evidence,
  port: ({ host }) => String(portOf(endpointOf(host))),
  lines,
  row: { shape, toRow, fromRow },
  table,
});
