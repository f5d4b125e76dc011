import { type Judgement, type NodeView, noOpinion } from './rules/kind.ts';

/** What ends at a time that checks find out: whether that is soon. `seconds` is the time, since 1970. */
export function judgeEnd(
  what: string,
  seconds: number | undefined,
  withinMs: number,
  { outcome, now }: NodeView,
): Judgement {
  if (seconds === undefined || outcome.status === 'unknown') return noOpinion(outcome);
  const leftMs = seconds * 1_000 - now;
  if (leftMs > withinMs) return { status: 'up', reason: 'long_enough', message: null };
  const end = new Date(seconds * 1_000).toISOString().slice(0, 10);
  const verb = leftMs > 0 ? 'expires' : 'expired';
  return { status: 'down', reason: leftMs > 0 ? 'soon' : 'over', message: `${what} ${verb} on ${end}` };
}
