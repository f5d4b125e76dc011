import { isIP } from 'node:net';
import type { Spec } from './spec.ts';

/** How long resolving the name may take, on top of the echoes. */
export const nameTimeoutMs = 5_000;

/** Name resolution if there is a name, the last request's turn, and its wait. */
export function deadlineMs({ host, count, interval, timeout }: Spec): number {
  return (isIP(host) === 0 ? nameTimeoutMs : 0) + (count - 1) * interval + timeout;
}
