import type { Register } from './register.ts';

const outcomes = ['start', 'success', 'failure', 'unknown_secret', 'too_many', 'malformed', 'not_stored'] as const;

/** What became of a call of a job: what it said, or why it was refused. */
export type BeatOutcome = (typeof outcomes)[number];

export function createHeartbeatMetrics(register: Register): (outcome: BeatOutcome) => void {
  const total = register.counter(
    'watchpost_heartbeat_calls_total',
    'Calls of jobs by what they said, or why they were refused.',
  );
  for (const outcome of outcomes) total.of({ outcome });
  return (outcome) => total.of({ outcome }).add();
}
