import { type ServerDetail, serverLines } from '../database/detail.ts';
import type { Outcome } from '../outcome.ts';

/** The server, what it gave, and its TLS connection. */
export function lines(outcome: Outcome<ServerDetail>): readonly string[] {
  return serverLines(outcome, 'rows');
}
