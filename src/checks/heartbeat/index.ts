import { defineCheck } from '../check.ts';
import { Detail } from './detail.ts';
import { lines } from './lines.ts';
import { Spec } from './spec.ts';
import { table } from './table.ts';

export const heartbeat = defineCheck({
  type: 'heartbeat',
  summary: 'Waits for a job to call, and finds it late, failing, or running for too long.',
  Spec,
  Detail,
  phases: [],
  facts: [],
  deadlineMs: () => 0,
  port: () => null,
  heard: ({ secret_hash: secretHash = null, grace, max_runtime: maxRuntimeMs = null }) => ({
    secretHash,
    graceMs: grace,
    maxRuntimeMs,
  }),
  lines,
  row: null,
  table,
});
