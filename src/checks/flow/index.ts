import { defineCheck } from '../check.ts';
import { Detail } from './detail.ts';
import { evidence } from './evidence.ts';
import { lines } from './lines.ts';
import { Spec } from './spec.ts';
import { table } from './table.ts';

/** Several HTTP requests in sequence, with values that go from one answer to later requests. `seconds` is the time of all steps. */
export const flow = defineCheck({
  type: 'flow',
  summary: 'Sends HTTP requests in sequence and hands values from one to the next.',
  Spec,
  Detail,
  schemes: ['http', 'https'],
  isForTargets: true,
  phases: ['resolve', 'connect', 'tls', 'first_byte', 'transfer'],
  facts: ['certificate_expires_at'],
  deadlineMs: ({ timeout }) => timeout,
  evidence,
  port: () => null,
  certificate: ({ detail }) => detail?.certificate ?? null,
  lines,
  table,
  row: null,
});
