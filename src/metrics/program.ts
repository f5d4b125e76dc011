import type { MetricReader } from './ask.ts';
import type { Register } from './register.ts';

// Metrics of the program itself that are a line or two each.

/** Takes whether the configuration could be loaded, and when: milliseconds since the epoch. */
export type ReloadRecorder = (successful: boolean, at: number) => void;

export function createConfigMetrics(register: Register): ReloadRecorder {
  const successful = register.gauge(
    'watchpost_config_last_reload_successful',
    '1 if the last attempt to load the configuration was successful, else 0.',
  );
  const at = register.gauge(
    'watchpost_config_last_reload_success_timestamp_seconds',
    'When the configuration that is in force was loaded.',
  );

  return (ok, now) => {
    successful.of().value = ok ? 1 : 0;
    if (ok) at.of().value = now / 1_000;
  };
}

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

const beatOutcomes = ['start', 'success', 'failure', 'unknown_secret', 'too_many', 'malformed', 'not_stored'] as const;

/** What became of a call of a job: what it said, or why it was refused. */
export type BeatOutcome = (typeof beatOutcomes)[number];

export function createHeartbeatMetrics(register: Register): (outcome: BeatOutcome) => void {
  const total = register.counter(
    'watchpost_heartbeat_calls_total',
    'Calls of jobs by what they said, or why they were refused.',
  );
  for (const outcome of beatOutcomes) total.of({ outcome });
  return (outcome) => total.of({ outcome }).add();
}

/** The number of open incidents without a notification; read at each scrape. */
export function createAuditMetrics(
  register: Register,
  ask: MetricReader,
  unreported: () => number,
): { refresh(): void } {
  const incidents = register.gauge(
    'watchpost_unreported_incidents',
    'Open incidents that the audit found without a notification although nothing explained it.',
  );
  return {
    refresh() {
      incidents.of().value = ask('audit', unreported) ?? 0;
    },
  };
}
