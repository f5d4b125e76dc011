import { defineCheck } from '../check.ts';
import { Detail } from './answers.ts';
import { forStrangers } from './conceal.ts';
import { lines } from './lines.ts';
import { Spec } from './options.ts';
import { longestMs, probe, systemServers } from './probe.ts';
import { fromRow, toRow } from './row.ts';

export const dns = defineCheck({
  type: 'dns',
  summary: 'Asks name servers for a name: its addresses and their TTL, or records of another type.',
  Spec,
  Detail,
  phases: ['resolve'],
  facts: ['answer_ttl'],
  deadlineMs: longestMs,
  port: () => null,
  start: async (environment) => ({
    capability: { able: true },
    probe: async (spec, context) => probe(spec, context, environment, systemServers),
    close: async () => {},
  }),
  // Times to live count down by themselves.
  answers: ({ detail }) => detail?.records.map(({ type, data }) => `${type} ${data}`) ?? null,
  lines,
  forStrangers,
  toRow,
  fromRow,
});
