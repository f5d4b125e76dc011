import type { AddressFamily } from './address.ts';
import { type Fact, failed, type Failure, failure, type Outcome } from './outcome.ts';
import type { ConnectionFamily } from './family-schema.ts';

/** What `reach` is given: the family of one measurement. */
export type MeasuredFamily = AddressFamily | 'happy_eyeballs' | undefined;

/**
 * Runs one measurement, or with `both` one over each family at the same time. Then the outcome is that of the family with the worse
 * result, or if both are up of the slower one; its facts have the time of each, and its failure names the family.
 */
export async function measureFamilies<Detail>(
  family: ConnectionFamily,
  measure: (family: MeasuredFamily) => Promise<Outcome<Detail>>,
): Promise<Outcome<Detail>> {
  if (family !== 'both') return measure(family);
  // Both must have ended before the check has: what they opened must not outlive it.
  const [four, six] = await Promise.allSettled([measure(4), measure(6)]);
  if (four.status === 'rejected') throw four.reason;
  if (six.status === 'rejected') throw six.reason;
  return combine(four.value, six.value);
}

/** The family that evidence is gathered over: of both, IPv6, whose failures IPv4 hides from most people. */
export function evidenceFamily(family: ConnectionFamily): AddressFamily | undefined {
  if (family === 'happy_eyeballs') return undefined;
  return family === 'both' ? 6 : family;
}

const badness: Readonly<Record<Outcome['status'], number>> = { up: 0, unknown: 1, down: 2 };

function combine<Detail>(four: Outcome<Detail>, six: Outcome<Detail>): Outcome<Detail> {
  const facts = (of: Outcome<Detail>) => ({ ...of.facts, ...timesOf(four, six), ...earliestExpiry(four, six) });
  if (four.status === 'up' && six.status === 'up') {
    const slower = (six.seconds ?? 0) > (four.seconds ?? 0) ? six : four;
    return { ...slower, facts: facts(slower) };
  }
  const [worse, better, names] =
    badness[six.status] > badness[four.status]
      ? ([six, four, ['IPv6', 'IPv4']] as const)
      : ([four, six, ['IPv4', 'IPv6']] as const);
  if (worse.status === 'up') return worse;
  const { failure: reason, ...found } = worse;
  return failed(nameFamilies(reason, better, names), { ...found, facts: facts(worse) });
}

function nameFamilies(reason: Failure, other: Outcome, [name, otherName]: readonly [string, string]): Failure {
  const { source, code, message } = reason;
  if (other.status === 'up') return failure(source, code, `${name}: ${message}; ${otherName} answers`);
  if (other.failure.message === message) return failure(source, code, `IPv4 and IPv6: ${message}`);
  return failure(source, code, `${name}: ${message}; ${otherName}: ${other.failure.message}`);
}

function timesOf(four: Outcome, six: Outcome): Partial<Record<Fact, number>> {
  return {
    ...(four.status === 'up' && four.seconds !== null && { ipv4_seconds: four.seconds }),
    ...(six.status === 'up' && six.seconds !== null && { ipv6_seconds: six.seconds }),
  };
}

// Two servers may present two certificates: a rule about their end must see the one that ends first.
function earliestExpiry(four: Outcome, six: Outcome): Partial<Record<Fact, number>> {
  const known = [four, six].flatMap(({ facts }) => facts.certificate_expires_at ?? []);
  return known.length === 0 ? {} : { certificate_expires_at: Math.min(...known) };
}

/** The times over each family, if it was one of `both` and is up. */
export function familyTimes({
  facts,
}: Outcome): readonly { readonly family: 'IPv4' | 'IPv6'; readonly seconds: number }[] {
  const { ipv4_seconds: four, ipv6_seconds: six } = facts;
  return [
    ...(four === undefined ? [] : [{ family: 'IPv4' as const, seconds: four }]),
    ...(six === undefined ? [] : [{ family: 'IPv6' as const, seconds: six }]),
  ];
}
