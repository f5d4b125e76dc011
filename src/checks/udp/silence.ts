import { isUdpPreset } from './payload.ts';
import type { Spec } from './spec.ts';

/** What silence means to a check: a target that was asked in its own language, or must say something, is not silent. */
export function meaningOfSilence({ silence, send, expect }: Spec): 'up' | 'down' | 'unknown' {
  if (silence !== undefined) return silence;
  return expect !== undefined || isUdpPreset(send) ? 'down' : 'unknown';
}
