import { defineCheck } from '../check.ts';
import { endpointOf, portOf } from '../endpoint.ts';
import { asProbe } from './as-probe.ts';
import { Detail } from './detail.ts';
import { evidence } from './evidence.ts';
import { lines } from './lines.ts';
import { apiOptions } from './over-api.ts';
import { Spec } from './spec.ts';
import { table } from './table.ts';

export const grpc = defineCheck({
  type: 'grpc',
  summary: 'Asks a gRPC server for its health.',
  Spec,
  Detail,
  phases: ['resolve', 'connect', 'tls', 'first_byte'],
  facts: ['certificate_expires_at'],
  deadlineMs: (spec) => spec.timeout,
  apiOptions,
  evidence,
  port: ({ host }) => String(portOf(endpointOf(host))),
  certificate: ({ detail }) => detail?.tls?.certificate ?? null,
  asProbe,
  lines,
  table,
  row: null,
});
