import { Cron } from 'croner';
import type { HeartbeatSettings } from '#checks/index.ts';
import type { Schedule } from '#schedule/schedule.ts';

/** When pings of a job are expected, and how late they may be. */
export interface ExpectedPings extends Pick<HeartbeatSettings, 'graceMs' | 'maxRuntimeMs'> {
  readonly schedule: Schedule;
  /** When the next ping is expected after one at `ping`; one that came a little early counts as the one that was due. */
  afterPing(ping: number): number | null;
  /** The first time after `moment` at which a ping is expected. */
  after(moment: number): number | null;
}

// Cron starts a job by the clock of the job's machine, which is rarely ours.
const earlyMs = 60_000;

export function createExpected(schedule: Schedule, { graceMs, maxRuntimeMs }: HeartbeatSettings): ExpectedPings {
  const base = { schedule, graceMs, maxRuntimeMs };
  if (schedule.kind === 'every') {
    const after = (moment: number) => moment + schedule.everyMs;
    return { ...base, afterPing: after, after };
  }
  const cron = new Cron(schedule.pattern, { timezone: schedule.timezone, paused: true });
  const after = (moment: number) => cron.nextRun(new Date(moment))?.getTime() ?? null;
  return {
    ...base,
    after,
    afterPing(ping) {
      const next = after(ping);
      const following = next === null ? null : after(next);
      if (next === null || following === null) return next;
      return next - ping <= Math.min(earlyMs, (following - next) / 4) ? following : next;
    },
  };
}
