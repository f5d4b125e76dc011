import { z } from 'zod';

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
