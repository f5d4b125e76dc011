import { z } from 'zod';
import type { OutcomeTable } from '../check.ts';
import type { Outcome } from '../outcome.ts';
import { TlsConnection, tlsLines } from '../stream/tls.ts';

/** What was found of a server that was signed in to. */
export const ServerDetail = z.strictObject({
  tls: TlsConnection.nullable(),
  /** The version that it names, one line; null if it names none, or it did not come to that. */
  server: z.string().max(200).nullable(),
  /** The value that was asked for, as text on one line; null if there was none. */
  value: z.string().max(200).nullable(),
  /** How many rows, or messages, there were; null if that was not asked. */
  rows: z.int().min(0).nullable(),
});
export type ServerDetail = z.output<typeof ServerDetail>;

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
