import { failed, failure, type FailureCode, type Outcome } from '#checks/index.ts';
import type { ImportedPastResult } from '../draft.ts';
import type { KumaBeat } from './schema.ts';

/** Results of Kuma as outcomes: one that was to be tried again is down as well, as the check was. */
export function* resultsOf(beats: Iterable<KumaBeat>): Iterable<ImportedPastResult> {
  for (const { at, monitor, status, pingMs, message } of beats) {
    yield { at, origin: monitor, outcome: status === 1 ? up(pingMs) : down(message, pingMs) };
  }
}

const up = (pingMs: number | null): Outcome => ({
  status: 'up',
  seconds: Math.max(pingMs ?? 0, 0) / 1_000,
  address: null,
  phases: {},
  facts: {},
  detail: null,
});

// A resolver that was away says nothing about the target.
function down(message: string, pingMs: number | null): Outcome {
  const seconds = pingMs === null ? null : Math.max(pingMs, 0) / 1_000;
  if (/EAI_AGAIN/.test(message)) return failed(failure('resolver', 'name_server', message), { seconds });
  const code = causes.find(([pattern]) => pattern.test(message))?.[1] ?? 'answer';
  return failed(failure('target', code, message), { seconds });
}

const causes: readonly (readonly [RegExp, FailureCode])[] = [
  [/ECONNREFUSED|connection refused/i, 'refused'],
  [/ECONNRESET|socket hang up/i, 'reset'],
  [/EHOSTUNREACH|ENETUNREACH|unreachable/i, 'unreachable'],
  [/ENOTFOUND|getaddrinfo/, 'name_not_found'],
  [/time(?:d )?out|ETIMEDOUT|AbortSignal/i, 'timeout'],
  [/certificate has expired/i, 'certificate_expired'],
  [/certificate|self[- ]signed/i, 'certificate_untrusted'],
  [/status code \d|^\d{3} -/i, 'status'],
  [/keyword|JSON query/i, 'body'],
  [/No heartbeat/, 'silent'],
];
