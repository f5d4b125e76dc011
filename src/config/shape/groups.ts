import { z } from 'zod';
import { MaintenanceTimes } from './maintenance.ts';
import { ObjectiveText } from './objective.ts';
import { Labels, Names, Recipients } from './target.ts';

const Group = z.strictObject({
  match: Labels.refine((labels) => Object.keys(labels).length > 0, {
    error: 'expected labels, such as { team: web }',
  }).describe('The labels that a target has to have, all of them.'),
  rules: Names('rules').optional().describe('The rules of its targets, of those that have none of their own.'),
  notify: Recipients.optional().describe('The recipients of its targets that have no notify.'),
  objective: ObjectiveText.optional().describe('The objective of its targets, of those that have none of their own.'),
  evidence: z
    .boolean()
    .optional()
    .describe('false: no evidence is gathered about its targets that do not say otherwise.'),
  maintenance: MaintenanceTimes.optional().describe('When notifications for its targets are suppressed.'),
});

/** What holds for targets with certain labels. It is spelt out into the targets before they are judged. */
export const Groups = z
  .record(z.string(), Group)
  .default({})
  .describe(
    'Settings for targets with certain labels, by name. If several apply to a target, their lists are combined; their objectives must be equal.',
  );
