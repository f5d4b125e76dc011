import { formatSeconds } from '#kernel/units.ts';
import type { OutcomeTable } from '../check.ts';
import type { Detail } from './detail.ts';

export const table: OutcomeTable<Detail> = {
  did: 'went through all steps',
  columns: ['Steps'],
  cells: ({ detail }) => [
    detail?.steps.map(({ name, status, seconds }) => `${name}: ${status ?? '-'}, ${formatSeconds(seconds)}`) ?? '',
  ],
};
