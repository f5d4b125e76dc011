import { hostIn } from '#kernel/url.ts';
import type { Target } from '../judge/target.ts';

interface WitnessStanding {
  readonly witness: string;
  /** Whether its last round had an up vote; taken for granted before its first round. */
  hadUp: boolean;
  /** When it was due when it was seen up last; 0 if it was not. */
  upAt: number;
}

/** The targets that tell whether anything can be reached, each with the witness that it belongs to. */
export interface Witnesses {
  /** How many targets had an up vote in their last round. */
  readonly living: number;
  isLiving(target: string): boolean;
  has(target: string): boolean;
  /** Whether its last round had an up vote, in truth. */
  wasSeenUp(target: string): boolean;
  seenUp(target: string, at: number): void;
  /** Notes that its last round had no up vote. */
  seenSilent(target: string): void;
  /** Takes these for up again: their last rounds say nothing. */
  takeForUp(targets: Iterable<string>): void;
  /** The witness of a target; the empty string if there is no such target. */
  witnessOf(target: string): string;
  /** How many witnesses these and those of the living targets are, up to a number: asked of each round, of which there are thousands. */
  countWithLiving(most: number, others: Iterable<string>): number;
  /** Living targets out of those that are left: one of each witness first, those that were up last at the beginning. */
  lastUp(most: number, isLeft: (target: string) => boolean): readonly string[];
  /** All targets there are from now on; those in `failing` are known to fail. Gives those that are gone. */
  change(targets: ReadonlyMap<string, string>, failing: ReadonlySet<string>): readonly string[];
}

export function createWitnesses(): Witnesses {
  const standings = new Map<string, WitnessStanding>();
  /** How many living targets each witness has that has any. */
  const livingOf = new Map<string, number>();
  let living = 0;

  function mark(standing: WitnessStanding | undefined, hadUp: boolean): void {
    if (standing === undefined || standing.hadUp === hadUp) return;
    standing.hadUp = hadUp;
    count(standing.witness, hadUp ? 1 : -1);
  }

  function count(witness: string, more: 1 | -1): void {
    living += more;
    const left = (livingOf.get(witness) ?? 0) + more;
    if (left === 0) livingOf.delete(witness);
    else livingOf.set(witness, left);
  }

  const isLiving = (name: string) => standings.get(name)?.hadUp === true;

  return {
    get living() {
      return living;
    },
    isLiving,
    wasSeenUp: (target) => isLiving(target) && (standings.get(target)?.upAt ?? 0) > 0,
    has: (target) => standings.has(target),
    seenUp(target, at) {
      const known = standings.get(target);
      mark(known, true);
      if (known !== undefined) known.upAt = Math.max(known.upAt, at);
    },
    seenSilent: (target) => mark(standings.get(target), false),
    takeForUp(targets) {
      for (const name of targets) mark(standings.get(name), true);
    },
    witnessOf: (target) => standings.get(target)?.witness ?? '',
    countWithLiving(most, others) {
      let found = Math.min(livingOf.size, most);
      for (const witness of others) {
        if (found >= most) break;
        if (!livingOf.has(witness)) found += 1;
      }
      return found;
    },
    lastUp(most, isLeft) {
      const left = [...standings]
        .filter(([name, { hadUp }]) => hadUp && isLeft(name))
        .toSorted(([, a], [, b]) => b.upAt - a.upAt);
      const seen = new Set<string>();
      const [first, more]: [string[], string[]] = [[], []];
      for (const [name, { witness }] of left) {
        (seen.has(witness) ? more : first).push(name);
        seen.add(witness);
      }
      return [...first, ...more].slice(0, most);
    },
    change(targets, failing) {
      const gone = [...standings.keys()].filter((name) => !targets.has(name));
      for (const name of gone) {
        mark(standings.get(name), false);
        standings.delete(name);
      }
      for (const [name, witness] of targets) {
        const known = standings.get(name);
        if (known?.witness === witness) continue;
        const hadUp = known?.hadUp ?? !failing.has(name);
        mark(known, false);
        if (hadUp) count(witness, 1);
        standings.set(name, { witness, hadUp, upAt: known?.upAt ?? 0 });
      }
      return gone;
    },
  };
}

/** The witness of each target: its host, or that of the target behind which it lies. Checks of one machine are one witness. */
export function witnessesOf(
  targets: readonly Target[],
  ancestors: ReadonlyMap<string, readonly string[]>,
): ReadonlyMap<string, string> {
  const byName = new Map(targets.map((target) => [target.name, target]));
  const rootOf = (name: string) => ancestors.get(name)?.find((one) => byName.get(one)?.dependsOn.length === 0) ?? name;
  return new Map(targets.map(({ name, spec }) => [name, hostIn(byName.get(rootOf(name))?.spec.host ?? spec.host)]));
}
