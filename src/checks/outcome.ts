import { z } from 'zod';
import { singleLine } from '#kernel/text.ts';

/** Whose fault a failure is. Only `target` is downtime; the others make the vote unknown. */
export const FailureSource = z.enum(['target', 'resolver', 'node', 'service', 'third_party']);
export type FailureSource = z.infer<typeof FailureSource>;

/**
 * THE catalogue of failure codes: the bounded set that is stored, exported as the metric label `reason`, and documented
 * in `docs/checks.md`. A code keeps its meaning forever.
 */
export const FailureCode = z.enum([
  // The target did not do what was asked of it.
  'timeout',
  'refused',
  'unreachable',
  'reset',
  'closed',
  'protocol',
  'tls',
  'certificate_expired',
  'certificate_name',
  'certificate_untrusted',
  'certificate_expires_soon',
  'domain_expired',
  'domain_expires_soon',
  'status',
  'header',
  'body',
  'too_large',
  'redirect',
  'slow',
  'answer',
  'loss',
  'silent',
  // A job, by its own word or for want of one.
  'late',
  'unfinished',
  'exit',
  // Its name could not be turned into an address.
  'name_not_found',
  'name_without_address',
  'name_server',
  'name_timeout',
  // The node could not or would not do it.
  'forbidden',
  'busy',
  'unsupported',
  'no_answer',
  'gone',
  'suspected',
  'aborted',
  'local',
  'internal',
  // The check service could not do it.
  'service_unreachable',
  'service_limited',
  'service_answer',
]);
export type FailureCode = z.infer<typeof FailureCode>;

/** Why there is no good outcome: whose fault, a code from the catalogue, and a sentence of at most 200 characters. */
export const Failure = z.strictObject({ source: FailureSource, code: FailureCode, message: z.string().max(200) });
export type Failure = z.infer<typeof Failure>;

/** The parts of a check that are timed one by one. */
export const Phase = z.enum(['resolve', 'connect', 'proxy', 'tls', 'login', 'query', 'first_byte', 'transfer']);
export type Phase = z.infer<typeof Phase>;

/**
 * Figures besides the duration that rules and metrics can use; each check type declares which ones it measures. `node_lag` is in any
 * outcome whose node was late itself: for how many seconds its event loop was held up meanwhile, to within 20 milliseconds, or
 * if the kernel takes the times as far as a timer was due.
 */
export const Fact = z.enum([
  'loss',
  'rtt_min',
  'rtt_mean',
  'rtt_max',
  'rtt_deviation',
  'hops',
  'answer_ttl',
  'clock_offset',
  'certificate_expires_at',
  'domain_expires_at',
  'plugin_state',
  'ipv4_seconds',
  'ipv6_seconds',
  'ip_protocol',
  'node_lag',
]);
export type Fact = z.infer<typeof Fact>;

const Seconds = z.number().min(0).max(1e6);

// What every outcome tells, whatever its type. Times are seconds with microsecond resolution.
const measured = {
  /** The figure the check is named after: connect time, round trip, time to the whole answer; null if unknown. */
  seconds: Seconds.nullable(),
  /** The address that was measured. */
  address: z.string().max(64).nullable(),
  phases: z.partialRecord(Phase, Seconds).default({}),
  facts: z.partialRecord(Fact, z.number()).default({}),
};

/** The shape of the outcomes of one check type whose own findings have the shape `detail`. */
export function outcomeOf<Detail extends z.ZodType>(detail: Detail) {
  return z.discriminatedUnion('status', [
    z.strictObject({ status: z.literal('up'), ...measured, seconds: Seconds.nullable(), detail }),
    z.strictObject({ status: z.literal('down'), ...measured, failure: Failure, detail: detail.nullable() }),
    z.strictObject({ status: z.literal('unknown'), ...measured, failure: Failure, detail: detail.nullable() }),
  ]);
}

interface OutcomeBase {
  readonly address: string | null;
  readonly phases: Readonly<Partial<Record<Phase, number>>>;
  readonly facts: Readonly<Partial<Record<Fact, number>>>;
}

export interface UpOutcome<Detail> extends OutcomeBase {
  readonly status: 'up';
  readonly seconds: number | null;
  readonly detail: Detail;
}

export interface FailedOutcome<Status extends 'down' | 'unknown', Detail> extends OutcomeBase {
  readonly status: Status;
  readonly seconds: number | null;
  readonly failure: Failure;
  readonly detail: Detail | null;
}

/** The observation of one node: up, down by the target's own fault, or unknown because a third party failed. */
export type Outcome<Detail = unknown> =
  | UpOutcome<Detail>
  | FailedOutcome<'down', Detail>
  | FailedOutcome<'unknown', Detail>;

/** A failure with its message made safe: one line, no controls, at most 200 characters. */
export function failure(source: FailureSource, code: FailureCode, message: string): Failure {
  return { source, code, message: singleLine(message) };
}

/** The failure of a third party that a check needs, with its name in front. Faults of the node and its resolver stay theirs. */
export function thirdPartyFailure(who: string, { source, code, message }: Failure): Failure {
  return failure(source === 'target' ? 'third_party' : source, code, `${who}: ${message}`);
}

/** The outcome of a failure: down if it is the target's, otherwise unknown. */
export function failed<Detail>(
  reason: Failure,
  known: Partial<Pick<FailedOutcome<'down', Detail>, 'seconds' | 'address' | 'phases' | 'facts' | 'detail'>> = {},
): FailedOutcome<'down', Detail> | FailedOutcome<'unknown', Detail> {
  const status = reason.source === 'target' ? 'down' : 'unknown';
  return { status, seconds: null, address: null, phases: {}, facts: {}, detail: null, ...known, failure: reason };
}

/** What a check has measured so far, as an outcome for code that shows outcomes: nothing is known about the target yet. */
export function unfinishedOutcome<Detail>(
  detail: Detail,
): FailedOutcome<'down', Detail> | FailedOutcome<'unknown', Detail> {
  return failed(failure('node', 'no_answer', 'the check is not finished'), { detail });
}

/** Seconds of a span of monotonic milliseconds, to the microsecond. */
export function toSeconds(ms: number): number {
  return Math.round(Math.max(ms, 0) * 1_000) / 1_000_000;
}
