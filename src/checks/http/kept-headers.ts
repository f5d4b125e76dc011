/** Headers that identify the server; the outcome has no others. */
export const keptHeaders = [
  'content-type',
  'content-encoding',
  'location',
  'server',
  'via',
  'age',
  'cache-control',
  'retry-after',
] as const;
