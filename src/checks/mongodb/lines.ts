import { serverLines } from '../database/detail.ts';
import type { Outcome } from '../outcome.ts';
import type { Detail } from './detail.ts';
import { roleText } from './role.ts';

/** What the server is, what it gave, and its TLS connection. */
export function lines(outcome: Outcome<Detail>): readonly string[] {
  const role = roleText(outcome.detail);
  return [...(role === '' ? [] : [`role         ${role}`]), ...serverLines(outcome, 'documents')];
}
