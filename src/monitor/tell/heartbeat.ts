import { type Clock, deadline, sleep } from '#kernel/clock.ts';
import { messageOf } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';

export interface HeartbeatOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly everyMs: number;
  /** What does not work at the moment, in words; empty where everything does. */
  readonly troubles: () => readonly string[];
  /** Tells somebody outside that everything works. Rejects where nobody could be told. */
  readonly call: (signal: AbortSignal) => Promise<void>;
}

/** A running heartbeat. */
export interface Heartbeat {
  /** Resolves when nothing of it runs any more. */
  stop(): Promise<void>;
}

const answerMs = 30_000;

/** Calls somebody outside regularly, only while everything works: they raise the alarm when the calls stay away. */
export function startHeartbeat(options: HeartbeatOptions): Heartbeat {
  const stopping = new AbortController();
  const ended = beat(options, stopping.signal);
  return {
    async stop() {
      stopping.abort(new Error('the heartbeat stops'));
      await ended;
    },
  };
}

async function beat({ clock, log, everyMs, troubles, call }: HeartbeatOptions, signal: AbortSignal): Promise<void> {
  let lastTold = '';
  const tell = (trouble: string) => {
    if (trouble !== lastTold && trouble === '') log.info('the heartbeat goes on');
    else if (trouble !== lastTold) log.warn(trouble);
    lastTold = trouble;
  };
  while (!signal.aborted) {
    const broken = found(troubles);
    if (broken.length > 0) tell(`no heartbeat: ${broken.join('; ')}`);
    else tell(await outcomeOf(call, clock, signal));
    await nap(clock, everyMs, signal);
  }
}

function found(troubles: HeartbeatOptions['troubles']): readonly string[] {
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
    return signal.aborted ? '' : `the heartbeat could not be told: ${messageOf(error)}`;
  }
}

async function nap(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(clock, ms, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
