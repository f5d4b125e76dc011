import type { OutcomeTable } from '../check.ts';
import type { Detail } from './detail.ts';

export const table: OutcomeTable<Detail> = {
  did: 'found the port open or silent',
  columns: ['Port'],
  cells({ status, detail }) {
    if (status !== 'up' || detail === null) return [''];
    return [detail.replied ? 'open: it answered' : 'open or filtered: nothing came back'];
  },
};
