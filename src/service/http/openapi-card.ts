import { byId, failuresWith } from './openapi-parts.ts';

/** The picture of a report. */
export const reportCard = (operationId: string) => ({
  operationId,
  summary: 'A picture of the state of a check',
  parameters: [byId],
  responses: {
    200: {
      description: 'The sign of the state, and a field for each of the first 24 nodes.',
      content: { 'image/png': { schema: { type: 'string', format: 'binary' } } },
    },
    ...failuresWith('not_found', 'too_long'),
  },
});
