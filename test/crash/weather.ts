import { setTimeout as sleep } from 'node:timers/promises';
import type { seededRandom } from '../support/seeded-random.ts';
import type { SmtpSink } from '../support/smtp.ts';
import type { Switched } from './switched.ts';

/** Targets go down and come back, and so does the mail server. */
export async function changeWeather(
  targets: readonly Switched[],
  sink: SmtpSink,
  random: ReturnType<typeof seededRandom>,
  counts: { switches: number; 'mail server outages': number },
  signal: AbortSignal,
): Promise<void> {
  let isMailUp = true;
  while (!signal.aborted) {
    await sleep(150 + random.next() * 500);
    const target = targets[Math.floor(random.next() * targets.length)];
    if (target !== undefined) {
      await target.turn(!target.isOn);
      counts.switches += 1;
    }
    if (random.next() < 0.3) {
      isMailUp = !isMailUp;
      await (isMailUp ? sink.start() : sink.stop());
      if (!isMailUp) counts['mail server outages'] += 1;
    }
  }
}
