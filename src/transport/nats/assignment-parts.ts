import { encodeSpec, messageLimit, protocolRange } from '#protocol/nodes.ts';
import { type AssignMessage, type Assignment, type AssignedTarget, isSameTarget } from '#protocol/watching.ts';

/** What the messages of an assignment say, each a part of it; each target as JSON. */
export type AssignmentPart = Pick<AssignMessage, 'base' | 'removed'> & { readonly targets: readonly string[] };

type AssignmentName = Pick<AssignMessage, 'epoch' | 'number'>;

/** The JSON of targets, written once for all nodes that watch them. */
export type TargetTexts = WeakMap<AssignedTarget, string>;

// What stands around the targets of a part.
const partRoom = 4_096;

/**
 * The parts that bring an assignment into force, as few as messages hold: what is other than in `base`, if a process watches that,
 * or else the whole.
 */
export function partsOf(
  assignment: Assignment,
  base: Assignment | null,
  texts: TargetTexts = new WeakMap(),
): readonly AssignmentPart[] {
  if (base === null) return split(assignment.targets, texts).map((targets) => ({ targets }));
  const before = new Map(base.targets.map((target) => [target.name, target]));
  const changed = assignment.targets.filter((target) => !isSameTarget(target, before.get(target.name)));
  const names = new Set(assignment.targets.map(({ name }) => name));
  const removed = base.targets.flatMap(({ name }) => (names.has(name) ? [] : name));
  if (changed.length + removed.length >= assignment.targets.length) return partsOf(assignment, null, texts);
  const { number } = base;
  const parts: AssignmentPart[] = splitNames(removed).map((some) => ({
    base: number,
    targets: [],
    removed: [...some],
  }));
  if (changed.length > 0) for (const targets of split(changed, texts)) parts.push({ base: number, targets });
  return parts.length > 0 ? parts : [{ base: number, targets: [] }];
}

/** The message of one of the parts of an assignment, in JSON. */
export function partMessage(
  parts: readonly AssignmentPart[],
  index: number,
  { epoch, number }: AssignmentName,
): string {
  const { targets = [], ...content } = parts[index] ?? {};
  const part = { index, of: parts.length };
  const head = { protocol: [...protocolRange], epoch, number, part, ...content };
  return `${JSON.stringify(head).slice(0, -1)},"targets":[${targets.join(',')}]}`;
}

/** As many targets together as a message holds; one empty part if there are none. */
function split(targets: readonly AssignedTarget[], texts: TargetTexts): readonly string[][] {
  return grouped(
    targets.map((target) => textOf(target, texts)),
    (text) => text,
  );
}

function textOf(target: AssignedTarget, texts: TargetTexts): string {
  const { spec, ...rest } = target;
  const text = texts.get(target) ?? JSON.stringify({ ...rest, spec: encodeSpec(spec) });
  texts.set(target, text);
  return text;
}

function splitNames(names: readonly string[]): readonly (readonly string[])[] {
  return names.length === 0 ? [] : grouped(names, (name) => JSON.stringify(name));
}

function grouped<Item>(items: readonly Item[], textOfItem: (item: Item) => string): readonly Item[][] {
  const groups: Item[][] = [[]];
  let bytes = 0;
  for (const item of items) {
    const size = Buffer.byteLength(textOfItem(item)) + 1;
    if (bytes + size > messageLimit - partRoom && bytes > 0) {
      groups.push([]);
      bytes = 0;
    }
    groups.at(-1)?.push(item);
    bytes += size;
  }
  return groups;
}
