import type { Register } from './register.ts';

const directions = ['forward', 'back'] as const;

/** Takes by how many milliseconds the clock of this machine was set; negative is back. */
export function createClockMetrics(register: Register): (byMs: number) => void {
  const total = register.counter(
    'watchpost_clock_jumps_total',
    'How often the clock of this machine was set by a second or more, also over a restart.',
  );
  const last = register.gauge(
    'watchpost_clock_last_jump_seconds',
    'By how much the clock of this machine was set last; negative is back, 0 is never.',
  );
  for (const direction of directions) total.of({ direction });
  last.of().value = 0;
  return (byMs) => {
    total.of({ direction: byMs > 0 ? 'forward' : 'back' }).add();
    last.of().value = byMs / 1_000;
  };
}
