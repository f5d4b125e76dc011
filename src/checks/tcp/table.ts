import type { OutcomeTable } from '../check.ts';
import type { Detail } from './detail.ts';

export const table: OutcomeTable<Detail> = { did: 'connected', columns: [], cells: () => [] };
