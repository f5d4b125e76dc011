import { hasNames, isSameAsJson } from '#kernel/same-parts.ts';
import type { Outcome, UpOutcome } from './outcome.ts';

// Healthy outcomes of a target differ in their times, and seldom in anything else: many of them are one of them, and a list of numbers.

/** Whether two outcomes are the very same but for the times of healthy ones. */
export function isSameButForTimes(one: Outcome, other: Outcome): boolean {
  if (one.status !== 'up' || other.status !== 'up') return one === other;
  if (one.address !== other.address || one.facts !== other.facts || one.detail !== other.detail) return false;
  return haveSameNames(one.phases, other.phases);
}

/** How many times it has. An outcome that is not up has none that differ. */
export const countTimes = (outcome: Outcome): number =>
  outcome.status === 'up' ? 1 + Object.keys(outcome.phases).length : 0;

/** Puts the times of an outcome into `times` from an index on; gives the index after them. */
export function putTimes(outcome: Outcome, times: number[], from: number): number {
  if (outcome.status !== 'up') return from;
  let at = from;
  times[at++] = outcome.seconds ?? Number.NaN;
  const phases: Readonly<Partial<Record<string, number>>> = outcome.phases;
  for (const name in phases) times[at++] = phases[name] ?? Number.NaN;
  return at;
}

/** The outcome that is like `known` and has these times, which `next` gives in the order of `putTimes`. */
export function withTimes(known: Outcome, next: () => number): Outcome {
  if (known.status !== 'up') return known;
  const { address, facts, detail } = known;
  const seconds = next();
  const phases: Partial<Record<string, number>> = {};
  for (const name in known.phases) phases[name] = next();
  return { status: 'up', seconds: Number.isNaN(seconds) ? null : seconds, address, phases, facts, detail };
}

/**
 * The same outcome with those parts taken from another one that are the same there, but for its times: most outcomes of a target differ
 * in nothing else.
 */
export function withPartsOf<Detail>(known: UpOutcome<Detail>, outcome: UpOutcome<Detail>): UpOutcome<Detail> {
  const { seconds, address, phases, facts, detail } = outcome;
  return {
    status: 'up',
    seconds,
    address: address === known.address ? known.address : address,
    phases,
    facts: isSameAsJson(facts, known.facts) ? known.facts : facts,
    detail: isSameAsJson(detail, known.detail) ? known.detail : detail,
  };
}

/** An outcome without times of its own, for `isSameButForTimes` and `withTimes`: its phases are those of another one if they have the same names. */
export function withoutTimes<Detail>(known: UpOutcome<Detail>, outcome: UpOutcome<Detail>): UpOutcome<Detail> {
  const { address, facts, detail } = outcome;
  const phases = haveSameNames(known.phases, outcome.phases) ? known.phases : outcome.phases;
  return { status: 'up', seconds: null, address, phases, facts, detail };
}

function haveSameNames(one: Outcome['phases'], other: Outcome['phases']): boolean {
  return one === other || hasNames(Object.keys(one), other);
}
