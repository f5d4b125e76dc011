import type { OutcomeTable } from '../check.ts';
import type { Detail } from './detail.ts';

export const table: OutcomeTable<Detail> = {
  did: 'was asked for its health',
  columns: ['Health'],
  cells: ({ detail }) => [detail?.health ?? ''],
};
