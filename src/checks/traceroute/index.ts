import { defineCheck } from '../check.ts';
import { pathAnswers } from '../path/addresses.ts';
import { Detail, forStrangers } from './detail.ts';
import { evidence } from './evidence.ts';
import { lines } from './lines.ts';
import { apiOptions } from './over-api.ts';
import { rawOutput } from './raw-output.ts';
import { Spec } from './spec.ts';
import { deadlineMs } from './deadline.ts';
import { table } from './table.ts';

/** The routers on the way to a host. `seconds` is the mean round trip to the host itself. */
export const traceroute = defineCheck({
  type: 'traceroute',
  summary: 'Finds the routers on the path to a host, and where it ends.',
  Spec,
  Detail,
  phases: ['resolve'],
  facts: ['hops'],
  deadlineMs,
  apiOptions,
  sendsMany: true,
  givesInterim: true,
  rawOutput,
  evidence,
  port: () => null,
  answers: ({ detail }) => (detail === null ? null : pathAnswers(detail)),
  lines,
  forStrangers,
  row: null,
  table,
});
