import type { OutcomeTable } from '../check.ts';
import type { Detail } from './detail.ts';

export const table: OutcomeTable<Detail> = {
  did: 'ended well',
  columns: ['Exit code', 'Last line'],
  cells: ({ detail }) => [String(detail?.exit_code ?? ''), detail?.log.at(-1) ?? ''],
};
