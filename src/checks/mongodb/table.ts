import type { OutcomeTable } from '../check.ts';
import type { Detail } from './detail.ts';
import { roleText } from './role.ts';

export const table: OutcomeTable<Detail> = {
  did: 'signed in',
  columns: ['Server', 'Role', 'Value'],
  cells: ({ detail }) => [detail?.server ?? '', roleText(detail), detail?.value ?? ''],
};
