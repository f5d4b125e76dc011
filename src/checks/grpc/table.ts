import type { OutcomeTable } from '../check.ts';
import type { Detail } from './detail.ts';

export const table: OutcomeTable<Detail> = {
  did: 'heard that it is well',
  columns: ['Health'],
  cells: ({ detail }) => [detail?.health ?? ''],
};
