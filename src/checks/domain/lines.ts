import type { Outcome } from '../outcome.ts';
import type { Detail } from './detail.ts';

/** When the registration ends, with whom it is, and who said so. */
export function lines({ detail }: Outcome<Detail>): readonly string[] {
  if (detail === null) return [];
  const { expires_at, registrar, status, server, asked_at, problem } = detail;
  return [
    `expires      ${expires_at?.slice(0, 10) ?? 'not stated'}`,
    ...(registrar === null ? [] : [`registrar    ${registrar}`]),
    ...(status.length === 0 ? [] : [`status       ${status.join(', ')}`]),
    `source       ${server}, ${asked_at.slice(0, 16).replace('T', ' ')} UTC`,
    ...(problem === null ? [] : [`problem      ${problem}`]),
  ];
}
