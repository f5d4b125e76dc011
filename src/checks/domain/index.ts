import { defineCheck } from '../check.ts';
import { concealAddresses } from '../conceal.ts';
import type { Outcome } from '../outcome.ts';
import { Detail } from './detail.ts';
import { evidence } from './evidence.ts';
import { lines } from './lines.ts';
import { apiOptions } from './over-api.ts';
import { Spec } from './spec.ts';
import { table } from './table.ts';

/** Asks a registry by RDAP (RFC 7480 to 9083), once in six hours at the most. `seconds` is what asking took, if it was asked now. */
export const domain = defineCheck({
  type: 'domain',
  summary: 'Asks a registry whether a domain is registered, and until when.',
  Spec,
  Detail,
  phases: ['resolve', 'connect', 'tls', 'first_byte', 'transfer'],
  facts: ['domain_expires_at'],
  deadlineMs: (spec) => spec.timeout,
  apiOptions,
  hasOwnLimit: true,
  evidence,
  port: () => null,
  lines,
  forStrangers,
  row: null,
  table,
});

// What kept a node from asking may name the routers of its own network.
function forStrangers(outcome: Outcome<Detail>): Outcome<Detail> {
  const { detail } = outcome;
  if (detail === null) return outcome;
  const problem = detail.problem === null ? null : concealAddresses(detail.problem).slice(0, 200);
  return { ...outcome, detail: { ...detail, problem } };
}
