import { formatSeconds } from '#kernel/units.ts';
import type { OutcomeTable } from '../check.ts';
import type { Detail } from './detail.ts';

export const table: OutcomeTable<Detail> = {
  did: 'got replies',
  columns: ['Received', 'Min', 'Mean', 'Max'],
  cells({ detail, facts: { rtt_min, rtt_mean, rtt_max } }) {
    if (detail === null) return ['', '', '', ''];
    const received = detail.attempts.filter(({ status }) => status === 'OK').length;
    const figures = [rtt_min, rtt_mean, rtt_max].map((one) => (one === undefined ? '' : formatSeconds(one)));
    return [`${received} of ${detail.attempts.length}`, ...figures];
  },
};
