import { z } from 'zod';
import { Duration } from '#kernel/unit-schemas.ts';
import { PayloadHex, PayloadText } from './payload-schemas.ts';
import { Tls } from './stream/tls-schemas.ts';

// Parts of the options that checks take over the API, where strangers give them. Each type's own list leaves out what could be used
// against others (requests that change something, bytes of the caller's choice, further addresses), what tells of a node's network, and
// what is costly to read for the hub (regular expressions, certificates).

/** The longest that a check over the API may occupy a node. */
export function ApiTimeout(standard: number, max: '10s' | '30s' = '30s') {
  return Duration({ min: '100ms', max }).default(standard).describe('The longest that everything together may take.');
}

/** What an answer must contain. */
export const ApiAnswer = z.union([PayloadText, PayloadHex]).optional().describe('What must come: text, or { hex }.');

export const ApiTls = Tls.omit({ ca: true });
