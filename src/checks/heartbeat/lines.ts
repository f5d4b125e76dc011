import type { Outcome } from '../outcome.ts';
import type { Detail } from './detail.ts';

/** The exit code, and the last lines of what the job sent. */
export function lines({ detail }: Outcome<Detail>): readonly string[] {
  if (detail === null) return [];
  return [...(detail.exit_code === null ? [] : [`exit code    ${detail.exit_code}`]), ...detail.log];
}
