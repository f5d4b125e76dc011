import type { OutcomeTable } from '../check.ts';
import type { Detail } from './detail.ts';

export const table: OutcomeTable<Detail> = {
  did: 'shook hands',
  columns: ['Message'],
  cells: ({ detail }) => [detail?.answer ?? ''],
};
