import type { Outcome } from '../outcome.ts';
import type { EvidenceDocument } from './detail.ts';

/** Which parts there are, and why others are missing. */
export function lines({ detail }: Outcome<EvidenceDocument>): readonly string[] {
  if (detail === null) return [];
  const { missing, ...parts } = detail;
  const gathered = Object.entries(parts).flatMap(([name, part]) => (part === null || part === undefined ? [] : [name]));
  return [
    ...(gathered.length === 0 ? [] : [`gathered     ${gathered.join(', ')}`]),
    ...missing.map(({ part, reason }) => `missing      ${part}: ${reason}`),
  ];
}
