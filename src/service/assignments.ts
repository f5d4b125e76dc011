import { createHash } from 'node:crypto';
import { checkOf, type CheckSpec, type NodeSelection, type Policy } from '#checks/index.ts';
import { notAhead } from '#kernel/clock.ts';
import { isSameList } from '#kernel/lists.ts';
import { type AssignedTarget, isSameTarget } from '#protocol/watching.ts';
import type { Schedule } from '#schedule/schedule.ts';
import type { Transport } from './ports.ts';
import type { TargetRounds } from './target-rounds.ts';

/** A target to be checked whenever it is due. */
export interface TargetDefinition {
  readonly name: string;
  readonly spec: CheckSpec;
  readonly schedule: Schedule;
  readonly nodes: NodeSelection;
}

/** A target as nodes are assigned it. */
export function assignedOf({ name, spec, schedule }: TargetDefinition, policy: Policy): AssignedTarget {
  const content = JSON.stringify([spec, schedule]);
  // Not by cutting a longer text, which would be kept whole for it.
  const revision = createHash('sha256').update(content).digest().subarray(0, 12).toString('base64url');
  return { name, spec, schedule, policy, deadlineMs: checkOf(spec.type).deadlineMs(spec), revision };
}

/** An entry that is assigned to nodes. */
export interface AssignmentEntry {
  readonly assigned: AssignedTarget;
}

/** An entry whose rounds wait for its nodes. */
interface AwaitedEntry extends AssignmentEntry {
  readonly rounds: Pick<TargetRounds, 'keeps'>;
}

/** What a node was given last, and since which assignment it has each target. */
interface SentAssignment {
  readonly number: number;
  readonly targets: readonly AssignedTarget[];
  // Lists weigh less than a map, and there may be hundreds of thousands of these pairs.
  readonly entries: readonly AwaitedEntry[];
  /** Of each entry. */
  readonly since: readonly number[];
}

/** What nodes that keep the time are assigned. */
export class Assignments {
  readonly #transport: Pick<Transport, 'assign'>;
  readonly #nodes = new Map<string, SentAssignment>();
  /** The assignment that each node watches, as far as its targets have it, and since when it does. */
  readonly #heard = new Map<string, { readonly number: number; readonly since: number }>();

  constructor(transport: Pick<Transport, 'assign'>) {
    this.#transport = transport;
  }

  /** Has a node watch these and nothing else; nothing is sent if that is what it watches. */
  put(node: string, wanted: readonly AwaitedEntry[]): void {
    const known = this.#nodes.get(node);
    if (
      known?.targets.length === wanted.length &&
      wanted.every(({ assigned }, at) => isSameTarget(assigned, known.targets[at]))
    )
      return this.#exchange(node, known, wanted);
    const number = (known?.number ?? 0) + 1;
    const before = new Map(known?.entries.map((one, index) => [one, known.since[index] ?? number]));
    const since = wanted.map((one) => before.get(one) ?? number);
    const targets = wanted.map(({ assigned }) => assigned);
    const sent = this.#withListsOfOthers({ number, targets, entries: wanted, since });
    this.#nodes.set(node, sent);
    this.#heard.delete(node);
    this.#transport.assign(node, { number, targets: sent.targets });
  }

  /** A node watches the assignment of this number since then; infinity if none. It says so every few seconds, of many targets. Whether that is new. */
  heard(node: string, number: number, since: number, entries: Iterable<AwaitedEntry>): boolean {
    if (since === Number.POSITIVE_INFINITY) {
      for (const { rounds } of entries) rounds.keeps(node, null);
      return this.#heard.delete(node);
    }
    if (this.#heard.get(node)?.number === number) return false;
    this.#heard.set(node, { number, since });
    const sent = this.#nodes.get(node);
    for (const [index, one] of (sent?.entries ?? []).entries())
      if (isIn(sent, index, number)) one.rounds.keeps(node, since);
    return true;
  }

  /** The clock was set back to `now`. */
  reset(now: number): void {
    for (const [node, { number, since }] of this.#heard) this.#heard.set(node, { number, since: notAhead(since, now) });
  }

  // Mostly all nodes watch the same.
  #withListsOfOthers(sent: SentAssignment): SentAssignment {
    let { targets, entries, since } = sent;
    for (const other of this.#nodes.values()) {
      if (isSameList(other.targets, targets)) ({ targets } = other);
      if (isSameList(other.entries, entries)) ({ entries } = other);
      if (isSameList(other.since, since)) ({ since } = other);
    }
    return { number: sent.number, targets, entries, since };
  }

  // Targets that are watched anew in the same way, after a change of their rules for instance: the node goes on and will not say so again.
  #exchange(node: string, known: SentAssignment, wanted: readonly AwaitedEntry[]): void {
    this.#nodes.set(node, this.#withListsOfOthers({ ...known, entries: wanted }));
    const heard = this.#heard.get(node);
    if (heard === undefined) return;
    for (const [index, one] of wanted.entries())
      if (one !== known.entries[index] && isIn(known, index, heard.number)) one.rounds.keeps(node, heard.since);
  }
}

// Whether the assignment of this number has the entry in this place.
const isIn = (sent: SentAssignment | undefined, index: number, number: number) =>
  (sent?.since[index] ?? Number.POSITIVE_INFINITY) <= number;
