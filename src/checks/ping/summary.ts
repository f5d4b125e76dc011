import { formatDuration } from '#kernel/units.ts';
import { failed, failure, type Failure, type Fact, type Outcome, type Phase } from '../outcome.ts';
import type { Attempt, Detail } from './detail.ts';

/** What is known about a ping besides its attempts. */
export interface PingContext {
  readonly address: string | null;
  readonly phases: Readonly<Partial<Record<Phase, number>>>;
  /** How long each attempt waited, or null if it is not known. */
  readonly timeoutMs: number | null;
}

/**
 * Up where at least one attempt is OK; then `seconds` is the mean round trip of those. Nothing but losses is down; if the
 * node could not even send it is unknown. Requests that were not sent count for no loss.
 */
export function summarize(detail: Detail, known: PingContext): Outcome<Detail> {
  const { attempts } = detail;
  const rtts = attempts.flatMap((attempt) => (attempt.status === 'OK' ? [attempt.seconds] : []));
  const common = { address: known.address, phases: known.phases, detail };
  if (rtts.length === 0) {
    const reason = reasonOf(attempts, known);
    return failed(reason, { ...common, facts: reason.source === 'target' ? { loss: 1 } : {} });
  }
  const sent = attempts.filter((attempt) => attempt.status !== 'ERROR').length;
  const facts = { loss: toMillionths(1 - rtts.length / sent), ...figures(rtts) };
  return { status: 'up', seconds: facts.rtt_mean, facts, ...common };
}

function figures(rtts: readonly number[]) {
  const mean = rtts.reduce((sum, rtt) => sum + rtt, 0) / rtts.length;
  const variance = rtts.reduce((sum, rtt) => sum + (rtt - mean) ** 2, 0) / rtts.length;
  return {
    rtt_min: Math.min(...rtts),
    rtt_mean: toMillionths(mean),
    rtt_max: Math.max(...rtts),
    rtt_deviation: toMillionths(Math.sqrt(variance)),
  } satisfies Partial<Record<Fact, number>>;
}

function reasonOf(attempts: readonly Attempt[], { timeoutMs }: PingContext): Failure {
  const count = attempts.length;
  const requests = count === 1 ? 'the echo request' : `${count} echo requests`;
  const unsent = attempts.find((attempt) => attempt.status === 'ERROR');
  if (unsent !== undefined) return failure('node', 'local', `could not send: ${unsent.reason ?? 'no reason given'}`);
  const refused = attempts.find((attempt) => attempt.status === 'DEST_UNREACH');
  if (refused !== undefined) return failure('target', 'unreachable', refused.reason ?? 'destination unreachable');
  const malformed = attempts.filter((attempt) => attempt.status === 'MALFORMED').length;
  if (malformed > 0) return failure('target', 'protocol', `${malformed} of ${count} replies had another content`);
  const within = timeoutMs === null ? '' : ` within ${formatDuration(timeoutMs)}`;
  return failure('target', 'timeout', `no reply to ${requests}${within}`);
}

function toMillionths(value: number): number {
  return Math.round(value * 1e6) / 1e6;
}
