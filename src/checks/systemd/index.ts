import { defineCheck } from '../check.ts';
import { Detail } from './detail.ts';
import { lines, table } from './lines.ts';
import { Spec } from './spec.ts';

/** Asks the systemd of the node's machine. `seconds` is how long it took to answer. */
export const systemd = defineCheck({
  type: 'systemd',
  summary: 'Checks the state of a systemd unit on the machine of the node.',
  Spec,
  Detail,
  isForTargets: true,
  phases: ['query'],
  facts: [],
  deadlineMs: ({ timeout }) => timeout,
  port: () => null,
  needs: () => 'systemd',
  needsSocket: 'systemd_socket',
  lines,
  table,
  row: null,
});
