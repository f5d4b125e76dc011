import type { OutcomeTable } from '../check.ts';
import { type Detail, roleText } from './detail.ts';

export const table: OutcomeTable<Detail> = {
  did: 'signed in',
  columns: ['Server', 'Role', 'Value'],
  cells: ({ detail }) => [detail?.server ?? '', roleText(detail), detail?.value ?? ''],
};
