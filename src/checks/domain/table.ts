import type { OutcomeTable } from '../check.ts';
import type { Detail } from './detail.ts';

export const table: OutcomeTable<Detail> = {
  did: 'found it registered',
  columns: ['Expires', 'Registrar'],
  cells: ({ detail }) => [detail?.expires_at?.slice(0, 10) ?? '', detail?.registrar ?? ''],
};
