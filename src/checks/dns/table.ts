import type { OutcomeTable } from '../check.ts';
import type { Detail } from './detail.ts';

export const table: OutcomeTable<Detail> = {
  did: 'got records',
  columns: ['Records', 'TTL'],
  cells({ detail }) {
    if (detail === null) return [[], ''];
    return [detail.records.map(({ type, data }) => `${type} ${data}`), detail.TTL === null ? '' : `${detail.TTL} s`];
  },
};
