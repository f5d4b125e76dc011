import type { OutcomeTable } from '../check.ts';
import type { Outcome } from '../outcome.ts';
import { tlsLines } from '../stream/tls.ts';
import type { ServerDetail } from './detail-schema.ts';

export type { ServerDetail } from './detail-schema.ts';

export const nothingFound = (): ServerDetail => ({ tls: null, server: null, value: null, rows: null });

/** What the server is, what it gave, and its TLS connection; `counted` are what `rows` counts. */
export function serverLines({ detail }: Outcome<ServerDetail>, counted: string): readonly string[] {
  if (detail === null) return [];
  const { server, value, rows, tls } = detail;
  return [
    ...(server === null ? [] : [`server       ${server}`]),
    ...(value === null ? [] : [`value        ${value}`]),
    ...(rows === null ? [] : [`${counted.padEnd(12)} ${rows}`]),
    ...tlsLines(tls),
  ];
}

export const serverTable: OutcomeTable<ServerDetail> = {
  did: 'signed in',
  columns: ['Server', 'Value'],
  cells: ({ detail }) => [detail?.server ?? '', detail?.value ?? ''],
};
