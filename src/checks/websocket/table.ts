import type { OutcomeTable } from '../table.ts';
import type { Detail } from './detail.ts';

export const table: OutcomeTable<Detail> = {
  did: 'shook hands',
  columns: ['Message'],
  cells: ({ detail }) => [detail?.answer ?? ''],
};
