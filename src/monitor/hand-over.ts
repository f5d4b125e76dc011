import type { Clock } from '#kernel/clock.ts';
import type { Assessor } from './assessment.ts';
import type { CheckedSpecs } from './checked-specs.ts';
import { carryOver } from './judge/carry-over.ts';
import { type Memory, nothingRemembered } from './judge/decide.ts';
import { windowMsOf } from './judge/recent-times.ts';
import type { Target } from './judge/target.ts';
import type { Recorder } from './recorder.ts';

export interface TargetSuccessionOptions {
  readonly assessor: Pick<Assessor, 'forget' | 'recentTimes'>;
  readonly specs: CheckedSpecs;
  /** What is remembered about each target; it changes with it. */
  readonly memories: Map<string, Memory>;
  readonly recorder: Pick<Recorder, 'note'>;
  readonly clock: Clock;
}

/**
 * What hands a target over from how it was watched to how it is from now on: its memory is carried over, and what was seen of another
 * host is forgotten. Not before it is handed over: the last round of another spec may run until then.
 */
export function createHandOver({ assessor, specs, memories, recorder, clock }: TargetSuccessionOptions) {
  return (name: string, last: Target | null, next: Target | null): void => {
    const isAnother = next !== null && specs.isAnother({ before: last, target: next });
    if (isAnother) {
      assessor.forget(name);
      assessor.recentTimes.keep(name, windowMsOf(next));
    }
    const now = clock.now();
    const known = memories.get(name) ?? nothingRemembered;
    const { memory, record: left } = carryOver(name, known, { last, next, isAnother }, now);
    if (next !== null) memories.set(name, memory);
    if (next === null) specs.forget(name);
    const record = next === null ? left : specs.note(next, left, now);
    if (record !== null) recorder.note(record);
  };
}
