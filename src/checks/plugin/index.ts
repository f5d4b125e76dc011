import { defineCheck } from '../check.ts';
import { Detail } from './detail.ts';
import { evidence } from './evidence.ts';
import { lines } from './lines.ts';
import { Spec } from './spec.ts';
import { table } from './table.ts';

/** Runs a program that follows the Monitoring Plugins Development Guidelines. `seconds` is how long it ran. */
export const plugin = defineCheck({
  type: 'plugin',
  summary: 'Runs a monitoring plugin that the node offers.',
  Spec,
  Detail,
  isForTargets: true,
  phases: ['resolve', 'query'],
  facts: ['plugin_state'],
  deadlineMs: (spec) => spec.timeout,
  port: ({ port }) => (port === undefined ? null : String(port)),
  needs: ({ plugin }) => plugin,
  values: ({ detail }) => detail?.values ?? [],
  evidence,
  lines,
  table,
  row: null,
});
