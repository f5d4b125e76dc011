import { defineCheck } from '../check.ts';
import { endpointOf } from '../endpoint.ts';
import { asProbe } from './as-probe.ts';
import { Detail } from './detail.ts';
import { evidence } from './evidence.ts';
import { lines } from './lines.ts';
import { apiOptions } from './over-api.ts';
import { Spec } from './spec.ts';
import { tlsPortOf } from './port.ts';
import { table } from './table.ts';

export const tls = defineCheck({
  type: 'tls',
  summary: 'Agrees on TLS with a server, at once or by STARTTLS, and judges its certificate.',
  Spec,
  Detail,
  phases: ['resolve', 'connect', 'tls', 'first_byte'],
  facts: ['certificate_expires_at', 'ipv4_seconds', 'ipv6_seconds', 'ip_protocol'],
  deadlineMs: (spec) => spec.timeout,
  apiOptions,
  evidence,
  port: ({ host }) => String(tlsPortOf(endpointOf(host))),
  certificate: ({ detail }) => detail?.tls?.certificate ?? null,
  asProbe,
  lines,
  table,
  row: null,
});
