import { countOf } from '#kernel/text.ts';

/** The words about values that checks give names of their own. */
export const measuredTexts = {
  title: 'Values',
  label: 'Label',
  node: 'Node',
  last: 'Last',
  mean: 'mean',
  limits: 'Thresholds',
  course: 'Course',
  warning: (range: string) => `warning ${range}`,
  critical: (range: string) => `critical ${range}`,
  courseOf: ({ label, least, most }: { readonly label: string; readonly least: string; readonly most: string }) =>
    `${label}: from ${least} to ${most}`,
  caption: 'Means of five minutes in this span, of the last 30 days at the most. Zero is on the scale.',
  more: (rows: number) => `${rows} further series not shown`,
  omitted: (values: number) => `${countOf(values, 'value')} not kept: there were more than 50 labels in an hour.`,
} as const;
