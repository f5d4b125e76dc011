import { encodeSpec, messageLimit } from '#protocol/nodes.ts';
import type { AssignMessage, Assignment, AssignedTarget } from '#protocol/watching.ts';

/** What the messages of an assignment say, each a part of it. */
export type AssignmentPart = Pick<AssignMessage, 'targets' | 'base' | 'removed'>;

// What stands around the targets of a part.
const partRoom = 4_096;

/**
 * The parts that bring an assignment into force, as few as messages hold: what is other than in `base`, if a process watches that,
 * or else the whole.
 */
export function partsOf(assignment: Assignment, base: Assignment | null): readonly AssignmentPart[] {
  if (base === null) return split(assignment.targets).map((targets) => ({ targets }));
  const before = new Map(base.targets.map((target) => [target.name, target]));
  const changed = assignment.targets.filter((target) => !isSame(before.get(target.name), target));
  const names = new Set(assignment.targets.map(({ name }) => name));
  const removed = base.targets.flatMap(({ name }) => (names.has(name) ? [] : name));
  if (changed.length + removed.length >= assignment.targets.length) return partsOf(assignment, null);
  const { number } = base;
  const parts: AssignmentPart[] = splitNames(removed).map((some) => ({
    base: number,
    targets: [],
    removed: [...some],
  }));
  if (changed.length > 0) for (const targets of split(changed)) parts.push({ base: number, targets });
  return parts.length > 0 ? parts : [{ base: number, targets: [] }];
}

function isSame(one: AssignedTarget | undefined, other: AssignedTarget): boolean {
  if (one?.revision !== other.revision || one.policy !== other.policy) return false;
  const [slots, others] = [one.schedule.slots, other.schedule.slots];
  return slots?.ms === others?.ms && slots?.since === others?.since;
}

/** As many targets together as a message holds; one empty part if there are none. */
function split(targets: readonly AssignedTarget[]): readonly unknown[][] {
  return grouped(targets.map(({ spec, ...target }) => ({ ...target, spec: encodeSpec(spec) })));
}

function splitNames(names: readonly string[]): readonly (readonly string[])[] {
  return names.length === 0 ? [] : grouped(names);
}

function grouped<Item>(items: readonly Item[]): readonly Item[][] {
  const groups: Item[][] = [[]];
  let bytes = 0;
  for (const item of items) {
    const size = Buffer.byteLength(JSON.stringify(item)) + 1;
    if (bytes + size > messageLimit - partRoom && bytes > 0) {
      groups.push([]);
      bytes = 0;
    }
    groups.at(-1)?.push(item);
    bytes += size;
  }
  return groups;
}
