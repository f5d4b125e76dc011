import { type Clock, deadline, sleepUnlessAborted } from '#kernel/clock.ts';
import { messageOf } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import { type BackgroundTask, untilStopped } from './until-stopped.ts';

export interface HeartbeatOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly everyMs: number;
  /** What does not work at the moment, in words; empty where everything does. */
  readonly troubles: () => readonly string[];
  /** Tells an external service that everything works. Rejects if it cannot be reached. */
  readonly call: (signal: AbortSignal) => Promise<void>;
}

const answerMs = 30_000;

/** Calls an external service regularly, only while everything works: it raises the alarm when the calls stop. */
export function startHeartbeat(options: HeartbeatOptions): BackgroundTask {
  return untilStopped('the heartbeat', async (signal) => beat(options, signal));
}

async function beat({ clock, log, everyMs, troubles, call }: HeartbeatOptions, signal: AbortSignal): Promise<void> {
  let lastReported = '';
  const report = (trouble: string) => {
    if (trouble !== lastReported && trouble === '') log.info('heartbeat sent again');
    else if (trouble !== lastReported) log.warn(trouble);
    lastReported = trouble;
  };
  do {
    const broken = readTroubles(troubles);
    if (broken.length > 0) report(`no heartbeat: ${broken.join('; ')}`);
    else report(await outcomeOf(call, clock, signal));
  } while (await sleepUnlessAborted(clock, everyMs, signal));
}

function readTroubles(troubles: HeartbeatOptions['troubles']): readonly string[] {
  try {
    return troubles();
  } catch (error) {
    return [messageOf(error)];
  }
}

async function outcomeOf(call: HeartbeatOptions['call'], clock: Clock, signal: AbortSignal): Promise<string> {
  using limit = deadline(clock, answerMs, signal);
  try {
    await call(limit.signal);
    return '';
  } catch (error) {
    return signal.aborted ? '' : `cannot send the heartbeat: ${messageOf(error)}`;
  }
}
