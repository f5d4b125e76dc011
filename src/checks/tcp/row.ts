import { z } from 'zod';
import { type FailureCode, type FailureSource, failed, failure, type Outcome } from '../outcome.ts';
import type { Detail } from './spec.ts';

// Keys that a stranger's row has besides are of no account.
const Row = z.tuple([
  z.union([
    z.object({ error: z.string(), address: z.string().max(64).nullish() }),
    z.object({ error: z.null().optional(), time: z.number().min(0).max(1e6), address: z.string().max(64).nullish() }),
  ]),
]);

/** Interface 2.7: `{time, address}`, or `{error[, address]}` in the words of the failure. */
export function toRow(outcome: Outcome<Detail>): unknown {
  const address = outcome.address === null ? {} : { address: outcome.address };
  if (outcome.status === 'up') return [{ time: outcome.seconds, ...address }];
  return [{ error: outcome.failure.message, ...address }];
}

export function fromRow(row: unknown): Outcome<Detail> | null {
  const parsed = Row.safeParse(row);
  if (!parsed.success) return null;
  const [told] = parsed.data;
  const address = told.address ?? null;
  if (typeof told.error === 'string') {
    const { source, code } = meaningOf(told.error);
    return failed(failure(source, code, told.error), { address });
  }
  return {
    status: 'up',
    seconds: told.time,
    address,
    phases: { connect: told.time },
    facts: {},
    detail: { timed_by: null, clock_seconds: null, answer: null, tls: null },
  };
}

interface Meaning {
  readonly source: FailureSource;
  readonly code: FailureCode;
}

const target = (code: FailureCode): Meaning => ({ source: 'target', code });

// A row has words only. These are ours and those of the system's error list; what none of them fits is the target's.
const meanings: readonly (readonly [RegExp, Meaning])[] = [
  [/^the answer |^the first \d+ bytes /, target('answer')],
  [/^the resolver of this node/i, { source: 'resolver', code: 'name_server' }],
  [/^this node could not|^this node has no route|^the node could not/i, { source: 'node', code: 'local' }],
  [/ is refused: |is this node itself|did not end at the address/i, { source: 'node', code: 'forbidden' }],
  [/name servers of .* do not answer/i, target('name_timeout')],
  [/name servers of /i, target('name_server')],
  [/has no (?:ipv\d )?address|no address associated/i, target('name_without_address')],
  [/name .*does not exist|not known|not found|nxdomain|resolve|no such device or address/i, target('name_not_found')],
  [/certificate is not for|altname/i, target('certificate_name')],
  [/certificate.* expired/i, target('certificate_expired')],
  [/certificate/i, target('certificate_untrusted')],
  [/TLS handshake within/i, target('timeout')],
  [/\bTLS\b|\bSSL\b/i, target('tls')],
  [/refused/i, target('refused')],
  [/timed out|time-?out|within/i, target('timeout')],
  [/unreachable|no route/i, target('unreachable')],
  [/reset|broken pipe/i, target('reset')],
  [/closed/i, target('closed')],
];

function meaningOf(error: string): Meaning {
  return meanings.find(([words]) => words.test(error))?.[1] ?? target('unreachable');
}
