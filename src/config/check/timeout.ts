import { checkOf, CheckSpec } from '#checks/index.ts';
import { formatDuration } from '#kernel/units.ts';
import { validate } from '../read/explain.ts';
import { specOf } from '../shape/target.ts';

const leastTimeoutMs = 100;

/** The spec with the longest timeout, in milliseconds, with which the check ends before the next one begins; null if none fits. */
export function specWithin(raw: Readonly<Record<string, unknown>>, everyMs: number): CheckSpec | null {
  let fitting: CheckSpec | null = null;
  let [least, most] = [leastTimeoutMs, Math.min(everyMs, 60_000)];
  while (least <= most) {
    const timeoutMs = Math.floor((least + most) / 2);
    const spec = validate(CheckSpec, specOf({ ...raw, timeout: formatDuration(timeoutMs) })).output;
    const fits = spec !== null && checkOf(spec.type).deadlineMs(spec) <= everyMs;
    if (fits) [fitting, least] = [spec, timeoutMs + 1];
    else most = timeoutMs - 1;
  }
  return fitting;
}
