import { z } from 'zod';

const bucketsHint = 'expected upper bounds in seconds, each larger than the one before, such as [0.01, 0.1, 1]';

const pairsHint = 'expected a whole number of pairs of target and node, such as 20000';

export const MetricsKeys = z.strictObject({
  buckets: z
    .array(z.number({ error: bucketsHint }).min(1e-6, { error: bucketsHint }).max(3_600, { error: bucketsHint }), {
      error: bucketsHint,
    })
    .min(1, { error: bucketsHint })
    .max(50)
    .refine((bounds) => bounds.every((bound, index) => index === 0 || bound > (bounds[index - 1] ?? 0)), {
      error: bucketsHint,
    })
    .optional()
    .describe(
      'Upper bounds of the buckets of watchpost_check_duration_seconds, in seconds. Default: [0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.2, 0.5, 1, 3, 10].',
    ),
  pair_limit: z
    .int({ error: pairsHint })
    .min(0, { error: pairsHint })
    .max(10_000_000, { error: pairsHint })
    .default(20_000)
    .describe(
      'How many pairs of target and node have series of their own in metrics; with more, the series of each target are summed over its nodes. 0: always.',
    ),
  blackbox: z
    .boolean()
    .default(false)
    .describe(
      'Whether everything is shown a second time under the names of blackbox_exporter (probe_success and so on), for dashboards and alerts that were written for it.',
    ),
});
