import { defineCheck } from '../check.ts';
import { pathAnswers } from '../path/addresses.ts';
import { Detail, forStrangers } from './detail.ts';
import { evidence } from './evidence.ts';
import { lines } from './lines.ts';
import { apiOptions } from './over-api.ts';
import { rawOutput } from './raw-output.ts';
import { deadlineMs, Spec } from './spec.ts';
import { table } from './table.ts';

/** Loss and times of each router on the path to a host. `seconds` is the mean round trip to the host itself. */
export const mtr = defineCheck({
  type: 'mtr',
  summary: 'Measures loss and round trips of each router on the path to a host.',
  Spec,
  Detail,
  phases: ['resolve'],
  facts: ['hops', 'loss', 'rtt_min', 'rtt_mean', 'rtt_max', 'rtt_deviation'],
  deadlineMs,
  apiOptions,
  sendsMany: true,
  givesInterim: true,
  rawOutput,
  evidence,
  port: () => null,
  answers: ({ detail }) => (detail === null ? null : pathAnswers(detail.path)),
  lines,
  forStrangers,
  row: null,
  table,
});
