import { defineCheck } from '../check.ts';
import { Detail } from './detail.ts';
import { lines, table } from './lines.ts';
import { Spec } from './spec.ts';

/** Asks the container engine of the node's machine. `seconds` is how long it took to answer. */
export const docker = defineCheck({
  type: 'docker',
  summary: 'Checks the state and the health of a container on the machine of the node.',
  Spec,
  Detail,
  isForTargets: true,
  phases: ['query'],
  facts: [],
  deadlineMs: ({ timeout }) => timeout,
  port: () => null,
  needs: () => 'engine',
  needsSocket: 'docker_socket',
  lines,
  table,
  row: null,
});
