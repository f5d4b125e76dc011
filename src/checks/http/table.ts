import type { OutcomeTable } from '../check.ts';
import type { Detail } from './detail.ts';

export const table: OutcomeTable<Detail> = {
  did: 'got a good answer',
  columns: ['Status', 'Redirects'],
  cells({ detail }) {
    if (detail === null || detail.status === null) return ['', ''];
    return [`${detail.status} ${detail.reason}`.trim(), detail.hops.length === 0 ? '' : String(detail.hops.length)];
  },
};
