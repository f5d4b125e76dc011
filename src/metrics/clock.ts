import type { OwnRegister } from './own-register.ts';

const directions = ['forward', 'back'] as const;

/** Takes by how many milliseconds the clock of this machine was set; negative is back. */
export function createClockMetrics(register: OwnRegister): (byMs: number) => void {
  const total = register.counter(
    'watchpost_clock_jumps_total',
    'How often the clock of this machine was set by a second or more, also over a restart.',
    ['direction'],
  );
  const last = register.gauge(
    'watchpost_clock_last_jump_seconds',
    'By how much the clock of this machine was set last; negative is back, 0 is never.',
  );
  for (const direction of directions) total.inc({ direction }, 0);
  last.set(0);
  return (byMs) => {
    total.inc({ direction: byMs > 0 ? 'forward' : 'back' });
    last.set(byMs / 1_000);
  };
}
