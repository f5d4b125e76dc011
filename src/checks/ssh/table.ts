import type { OutcomeTable } from '../check.ts';
import type { Detail } from './detail.ts';

export const table: OutcomeTable<Detail> = {
  did: 'completed the key exchange',
  columns: ['Server', 'Host key', 'Value'],
  cells: ({ detail }) => [detail?.server ?? '', detail?.host_key ?? '', detail?.value ?? ''],
};
