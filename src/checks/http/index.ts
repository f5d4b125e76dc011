import { defineCheck } from '../check.ts';
import { asProbe } from './as-probe.ts';
import { Detail } from './detail.ts';
import { evidence } from './evidence.ts';
import { lines } from './lines.ts';
import { apiOptions } from './over-api.ts';
import { fromRow, shape, toRow } from './row.ts';
import { files, Spec } from './spec.ts';
import { table } from './table.ts';

/**
 * Sends one HTTP request. `seconds` is the whole request from the start of connecting to the end of the body, redirects
 * included; name resolution is a phase of its own and not part of it. If several requests were made, phases add up.
 */
export const http = defineCheck({
  type: 'http',
  summary: 'Sends an HTTP request, takes the time of its parts and judges the answer.',
  Spec,
  Detail,
  schemes: ['http', 'https'],
  files,
  phases: ['resolve', 'connect', 'proxy', 'tls', 'first_byte', 'transfer'],
  facts: ['certificate_expires_at', 'ipv4_seconds', 'ipv6_seconds', 'ip_protocol'],
  deadlineMs: ({ timeout, oauth2 }) => timeout + (oauth2?.timeout ?? 0),
  // The content is not needed: enough to see that one comes.
  overApi: { max_body: '64KiB' },
  apiOptions,
  evidence,
  port: () => null,
  certificate: ({ detail }) => detail?.certificate ?? null,
  asProbe,
  lines,
  row: { shape, toRow, fromRow },
  table,
});
