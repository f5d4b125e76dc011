import { formatSeconds } from '#kernel/units.ts';
import type { OutcomeTable } from '../check.ts';
import { hopLabel } from '../path/lines.ts';
import type { Detail } from './detail.ts';

export const table: OutcomeTable<Detail> = {
  did: 'got through',
  columns: ['Hops', 'Hop, loss and mean', 'Loss', 'Mean', 'Worst'],
  cells({ detail, facts: { loss, rtt_mean, rtt_max } }) {
    if (detail === null) return ['', '', '', '', ''];
    const { path, figures } = detail;
    const hops = path.hops.map((hop, index) => {
      const { loss = 0, mean = null } = figures[index] ?? {};
      return `${hop.hop} ${hopLabel(hop)} ${shareOf(loss)} ${mean === null ? '' : formatSeconds(mean)}`.trimEnd();
    });
    const times = [rtt_mean, rtt_max].map((seconds) => (seconds === undefined ? '' : formatSeconds(seconds)));
    return [String(path.hops.length), hops, loss === undefined ? '' : shareOf(loss), ...times];
  },
};

function shareOf(ratio: number): string {
  return `${Number((ratio * 100).toFixed(1))}%`;
}
