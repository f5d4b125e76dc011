import { Cron } from 'croner';
import type { HeartbeatSettings } from '#checks/index.ts';
import type { Schedule } from '#schedule/schedule.ts';

/** When a job is expected to call, and how much time it has. */
export interface ExpectedPings extends Pick<HeartbeatSettings, 'graceMs' | 'maxRuntimeMs'> {
  readonly schedule: Schedule;
  /** The first expected moment after `word`, the last word of the job: one that came a little early counts for what it was early for. */
  afterWord(word: number): number | null;
  /** The first expected moment after another. */
  after(moment: number): number | null;
}

// Two clocks are rarely the same, and cron starts jobs by that of the job.
const earlyMs = 60_000;

export function createExpected(schedule: Schedule, { graceMs, maxRuntimeMs }: HeartbeatSettings): ExpectedPings {
  const base = { schedule, graceMs, maxRuntimeMs };
  if (schedule.kind === 'every') {
    const after = (moment: number) => moment + schedule.everyMs;
    return { ...base, afterWord: after, after };
  }
  const cron = new Cron(schedule.pattern, { timezone: schedule.timezone, paused: true });
  const after = (moment: number) => cron.nextRun(new Date(moment))?.getTime() ?? null;
  return {
    ...base,
    after,
    afterWord(word) {
      const next = after(word);
      const following = next === null ? null : after(next);
      if (next === null || following === null) return next;
      return next - word <= Math.min(earlyMs, (following - next) / 4) ? following : next;
    },
  };
}
