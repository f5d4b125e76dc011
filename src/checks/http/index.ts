import { defineCheck, startPlain } from '../check.ts';
import { asProbe } from './as-probe.ts';
import { Detail } from './detail.ts';
import { lines } from './lines.ts';
import { loadResponseParser } from './llhttp.ts';
import { probe } from './probe.ts';
import { fromRow, shape, toRow } from './row.ts';
import { Spec } from './spec.ts';
import { table } from './table.ts';

/**
 * Sends one HTTP request. `seconds` is the whole request from the start of connecting to the end of the body, redirects
 * included; name resolution is a phase of its own and not part of it. Where several requests were made, phases add up.
 */
export const http = defineCheck({
  type: 'http',
  summary: 'Sends an HTTP request, takes the time of its parts and judges the answer.',
  Spec,
  Detail,
  schemes: ['http', 'https'],
  phases: ['resolve', 'connect', 'tls', 'first_byte', 'transfer'],
  facts: ['certificate_expires_at'],
  deadlineMs: (spec) => spec.timeout,
  // Nobody looks at its content: enough to see that one comes.
  overApi: { max_body: '64KiB' },
  port: () => null,
  async start(environment) {
    await loadResponseParser();
    return startPlain(probe)(environment);
  },
  certificate: ({ detail }) => detail?.certificate ?? null,
  asProbe,
  lines,
  row: { shape, toRow, fromRow },
  table,
});
