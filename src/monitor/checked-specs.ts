import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { checkOf, type CheckSpec } from '#checks/index.ts';
import { sha256 } from '#kernel/hash.ts';
import { isRecord } from '#kernel/json.ts';
import type { RoundRecord } from './judge/round-record.ts';
import type { Target } from './judge/target.ts';
import type { ChangedTarget } from './watch/watch-set.ts';

/** By which spec each target was checked last, before a start too. Of targets that are not watched nothing is kept. */
export interface CheckedSpecs {
  /** Those of these targets, which are to be watched, that have another spec. Reads what is stored of those that are not known. */
  othersAmong(targets: readonly ChangedTarget[]): readonly ChangedTarget[];
  /** Whether the target has another spec than before, so that its earlier results say nothing about it. */
  isAnother(changed: ChangedTarget): boolean;
  /** The target is checked by its spec from now on. Gives the record with which that is stored, or the given one if it is stored. */
  note(target: Target, record: RoundRecord | null, now: number): RoundRecord | null;
  /** The target is not watched any more. */
  forget(target: string): void;
}

/** `read` gives the digest of the last spec of each of these targets, by name. */
export function createCheckedSpecs(read: (targets: ReadonlySet<string>) => ReadonlyMap<string, string>): CheckedSpecs {
  const last = new Map<string, string>();
  const digestOf = createDigests();

  function isAnother({ before, target }: ChangedTarget): boolean {
    if (before !== null) return !isDeepStrictEqual(before.spec, target.spec);
    const known = last.get(target.name);
    return known !== undefined && areOfOtherSpecs(known, digestOf(target.spec));
  }

  return {
    othersAmong(targets) {
      const names = targets.flatMap(({ before, target: { name } }) =>
        before === null && !last.has(name) ? [name] : [],
      );
      if (names.length > 0) for (const [name, spec] of read(new Set(names))) last.set(name, spec);
      return targets.filter(isAnother);
    },
    isAnother,
    note(target, record, now) {
      const { name } = target;
      const spec = digestOf(target.spec);
      if (last.get(name) === spec) return record;
      last.set(name, spec);
      const nothing = { target: name, dueAt: now, votes: [], states: [], incidents: [], deliveries: [] };
      return { ...(record ?? nothing), spec };
    },
    forget: (target) => void last.delete(target),
  };
}

// Short, so that no secret in a spec can be guessed by it with certainty.
const digits = 6;
const digest = (text: string) => sha256(text).slice(0, digits);

/** A spec as a text: the options that its type has in this version, then what they are. */
function createDigests(): (spec: CheckSpec) => string {
  const types = new Map<CheckSpec['type'], string>();
  return (spec) => {
    const options = types.get(spec.type) ?? digest(JSON.stringify(schemaOf(spec.type)));
    types.set(spec.type, options);
    return `${options}.${digest(JSON.stringify(spec, inOrder))}`;
  };
}

const schemaOf = (type: CheckSpec['type']) =>
  z.toJSONSchema(checkOf(type).Spec, { io: 'input', unrepresentable: 'any' });

// After an update, the same spec may have options with defaults that it did not have.
function areOfOtherSpecs(one: string, other: string): boolean {
  return one !== other && one.slice(0, digits) === other.slice(0, digits);
}

function inOrder(_: string, value: unknown): unknown {
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
