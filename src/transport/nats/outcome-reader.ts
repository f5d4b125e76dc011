import { isRecord } from '#kernel/json.ts';
import { countFields, isSameAsJson, withFieldsOf } from '#kernel/same-parts.ts';
import { readOutcome } from '#protocol/nodes.ts';

type ReadResult = ReturnType<typeof readOutcome>;

/** Reads the outcome of a check of this type of a target, or null if it has not that shape. */
export type OutcomeReader = (target: string, type: LastOutcome['type'], written: unknown) => ReadResult;

type HealthyOutcome = Extract<ReadResult, { status: 'up' }>;

interface LastOutcome {
  readonly type: Parameters<typeof readOutcome>[0];
  readonly outcome: HealthyOutcome;
}

const mostTargets = 50_000;
// As the shape of every outcome has it.
const mostSeconds = 1e6;

/**
 * Most outcomes of a target are as the one before but for their times, whichever node they come from. They need no schema, and share
 * what is the same with that one: an outcome is kept for each pair of target and node. Of names that `isWatched` does not know nothing is
 * kept.
 */
export function createOutcomeReader(isWatched: (target: string) => boolean): OutcomeReader {
  const last = new Map<string, LastOutcome>();
  // Of each type, of whichever target: most of what is the same in all outcomes of a target is so in those of others.
  const newest = new Map<LastOutcome['type'], HealthyOutcome>();
  return (target, type, written) => {
    const known = last.get(target);
    const again = known?.type === type ? readAgain(known.outcome, written) : null;
    if (again !== null) return again;
    const outcome = readOutcome(type, written);
    if (outcome?.status !== 'up') return outcome;
    const other = known?.type === type ? known.outcome : newest.get(type);
    const shared = other === undefined ? outcome : withFieldsOf(other, outcome);
    if (!isWatched(target)) return outcome;
    if (known === undefined && last.size >= mostTargets) last.clear();
    last.set(target, { type, outcome: shared });
    newest.set(type, shared);
    return shared;
  };
}

// What is the same as in an outcome that was read can be used as it is. Null if anything else than times is another.
function readAgain(known: HealthyOutcome, written: unknown): HealthyOutcome | null {
  if (!isRecord(written) || countFields(written) !== countFields(known)) return null;
  const { status, seconds, address, phases, facts, detail } = written;
  if (status !== 'up' || !(seconds === null || isSeconds(seconds)) || address !== known.address) return null;
  if (!isSameAsJson(detail, known.detail) || !isSameAsJson(facts, known.facts)) return null;
  const times = phasesAs(known.phases, phases);
  return times === null ? null : withParts(known, { seconds, phases: times });
}

// Those of an outcome with the same phases; null if they are others.
function phasesAs(known: HealthyOutcome['phases'], written: unknown): HealthyOutcome['phases'] | null {
  if (isSameAsJson(written, known)) return known;
  const names = Object.keys(known);
  if (!isRecord(written) || Object.keys(written).length !== names.length) return null;
  for (const name of names) if (!isSeconds(written[name])) return null;
  return written;
}

function withParts(
  { address, facts, detail }: HealthyOutcome,
  { seconds, phases }: Pick<HealthyOutcome, 'seconds' | 'phases'>,
): HealthyOutcome {
  return { status: 'up', seconds, address, phases, facts, detail };
}

const isSeconds = (value: unknown): value is number => typeof value === 'number' && value >= 0 && value <= mostSeconds;
