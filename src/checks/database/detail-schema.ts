import { z } from 'zod';
import { TlsConnection } from '../stream/tls-schemas.ts';

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
