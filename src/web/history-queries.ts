import { z } from 'zod';
import type { Selection } from '#history/reader.ts';
import { Duration } from '#kernel/unit-schemas.ts';

// What the history routes read from the query of a call; their document is made from it.

const Moment = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text));
const label = /^([a-zA-Z_]\w*)[:=](.*)$/s;
const Label = z
  .string()
  .regex(label, { error: 'expected a label and its value, such as team:web' })
  .transform((text): Selection => {
    const [, name = '', value = ''] = label.exec(text) ?? [];
    return { label: name, value };
  })
  .optional()
  .describe('Those that bear this label: `team:web`.');
const Node = z.string().optional().describe('What this node saw alone.');
const Page = {
  limit: z.coerce.number().int().min(1).max(500).default(100).describe('How many rows.'),
  after: z.string().max(500).optional().describe('The `next` of the page before.'),
};
const Span = {
  from: Moment.optional().describe(
    'The beginning of the span. Default: a day ago; for a report 30 days; for incidents the whole history.',
  ),
  to: Moment.optional().describe('The end of the span. Default: now.'),
};

export const TargetsQuery = z.strictObject({ label: Label, ...Page });
export const TargetQuery = z.strictObject({ ...Span, node: Node });
export const SeriesQuery = z.strictObject({
  ...Span,
  node: Node,
  step: Duration({ min: '1m', max: '365d' })
    .optional()
    .describe('The length of a step, such as `1h`; at most 5000 of them.'),
  points: z.coerce.number().int().min(2).max(2_000).optional().describe('How many steps at the most. Default: 300.'),
});
export const IncidentsQuery = z.strictObject({
  ...Span,
  ...Page,
  target: z.string().optional().describe('Those of this target.'),
  open: z
    .stringbool()
    .optional()
    .meta({ type: 'boolean', description: 'Those that are open, or those that are over.' }),
});
export const ReportQuery = z.strictObject({ label: Label, ...Span, ...Page });
