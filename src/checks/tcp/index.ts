import { defineCheck } from '../check.ts';
import { endpointOf, portOf } from '../endpoint.ts';
import { asProbe } from './as-probe.ts';
import { Detail } from './detail.ts';
import { evidence } from './evidence.ts';
import { lines } from './lines.ts';
import { apiOptions } from './over-api.ts';
import { fromRow, shape, toRow } from './row.ts';
import { Spec } from './spec.ts';
import { table } from './table.ts';

export const tcp = defineCheck({
  type: 'tcp',
  summary: 'Opens a TCP connection, times the handshake, and on request starts TLS, sends data and expects answers.',
  Spec,
  Detail,
  files: [['proxy', 'password_file']],
  phases: ['resolve', 'connect', 'proxy', 'tls', 'first_byte'],
  facts: ['certificate_expires_at', 'ipv4_seconds', 'ipv6_seconds', 'ip_protocol'],
  deadlineMs: (spec) => spec.timeout,
  apiOptions,
  evidence,
  port: ({ host }) => String(portOf(endpointOf(host))),
  certificate: ({ detail }) => detail?.tls?.certificate ?? null,
  asProbe,
  lines,
  row: { shape, toRow, fromRow },
  table,
});
