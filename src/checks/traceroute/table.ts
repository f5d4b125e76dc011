import { formatSeconds } from '#kernel/units.ts';
import type { OutcomeTable } from '../check.ts';
import { hopLabel } from '../path/lines.ts';
import type { Detail } from './detail.ts';

export const table: OutcomeTable<Detail> = {
  did: 'got through',
  columns: ['Hops', 'Path', 'Round trip'],
  cells({ detail, seconds }) {
    if (detail === null) return ['', '', ''];
    const path = detail.hops.map((hop) => `${hop.hop} ${hopLabel(hop)}`);
    return [String(detail.hops.length), path, seconds === null ? '' : formatSeconds(seconds)];
  },
};
