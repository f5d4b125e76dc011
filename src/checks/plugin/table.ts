import type { OutcomeTable } from '../check.ts';
import type { Detail } from './detail.ts';
import { figureOf } from './lines.ts';

export const table: OutcomeTable<Detail> = {
  did: 'had the plugin say OK or WARNING',
  columns: ['State', 'Said', 'Values'],
  cells: ({ detail }) =>
    detail === null
      ? ['', '', '']
      : [detail.state, detail.text, detail.values.slice(0, 5).map((one) => `${one.label} ${figureOf(one)}`)],
};
