import type { OutcomeTable } from '../check.ts';
import type { Outcome } from '../outcome.ts';
import type { Detail } from './detail.ts';

/** What systemd says of the unit. */
export function lines({ detail }: Outcome<Detail>): readonly string[] {
  if (detail === null) return [];
  const { state, sub, description, result, restarts } = detail;
  return [
    `state        ${state} (${sub})`,
    ...(description === '' ? [] : [`unit         ${description}`]),
    ...(result === null || result === 'success' ? [] : [`result       ${result}`]),
    ...(restarts === null ? [] : [`restarts     ${restarts}`]),
  ];
}

export const table: OutcomeTable<Detail> = {
  did: 'found the unit as expected',
  columns: ['State', 'Sub', 'Restarts'],
  cells: ({ detail }) => [detail?.state ?? '', detail?.sub ?? '', String(detail?.restarts ?? '')],
};
