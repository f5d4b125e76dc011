import { nothingFound } from '../database/detail.ts';
import type { Detail } from './detail.ts';

export const nothingSaid = (): Detail => ({ ...nothingFound(), role: null, set: null });

/** "primary of rs0"; empty if the server has not said what it is. */
export function roleText(detail: Detail | null): string {
  const { role, set } = detail ?? { role: null, set: null };
  return role === null ? '' : set === null ? role : `${role} of ${set}`;
}
