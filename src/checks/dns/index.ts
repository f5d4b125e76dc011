import { defineCheck } from '../check.ts';
import { forStrangers } from './conceal.ts';
import { asProbe } from './as-probe.ts';
import { Detail } from './detail.ts';
import { evidence } from './evidence.ts';
import { lines } from './lines.ts';
import { apiOptions } from './over-api.ts';
import { Spec } from './spec.ts';
import { longestMs } from './question.ts';
import { fromRow, shape, toRow } from './row.ts';
import { table } from './table.ts';

export const dns = defineCheck({
  type: 'dns',
  summary: 'Asks name servers for a name: its addresses and their TTL, or records of another type.',
  Spec,
  Detail,
  phases: ['resolve', 'connect', 'tls', 'first_byte', 'transfer'],
  facts: ['answer_ttl', 'certificate_expires_at'],
  deadlineMs: longestMs,
  apiOptions,
  otherHosts: ({ resolver }) => (resolver === undefined ? [] : [resolver]),
  evidence,
  port: () => null,
  // Times to live count down by themselves.
  answers: ({ detail }) => detail?.records.map(({ type, data }) => `${type} ${data}`) ?? null,
  certificate: ({ detail }) => detail?.tls?.certificate ?? null,
  asProbe,
  lines,
  forStrangers,
  row: { shape, toRow, fromRow },
  table,
});
