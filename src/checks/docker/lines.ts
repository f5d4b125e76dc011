import type { OutcomeTable } from '../check.ts';
import type { Outcome } from '../outcome.ts';
import type { Detail } from './detail.ts';

/** What the engine says of the container. */
export function lines({ detail }: Outcome<Detail>): readonly string[] {
  if (detail === null) return [];
  const { state, health, image, exit, restarts } = detail;
  return [
    `state        ${state}`,
    ...(health === null ? [] : [`health       ${health}`]),
    ...(image === null ? [] : [`image        ${image}`]),
    ...(exit === null ? [] : [`exit code    ${exit}`]),
    `restarts     ${restarts}`,
  ];
}

export const table: OutcomeTable<Detail> = {
  did: 'found the container as expected',
  columns: ['State', 'Health', 'Image'],
  cells: ({ detail }) => [detail?.state ?? '', detail?.health ?? '', detail?.image ?? ''],
};
