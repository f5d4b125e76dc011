import { failed, failure, type NodeInfo } from '#checks/index.ts';
import { notAhead } from '#kernel/clock.ts';
import { ListPool } from '#kernel/lists.ts';
import type { NodeStatus } from './ports.ts';
import type { NodeOutcome } from './runs.ts';

export interface AttendanceOptions {
  /** How a node is now; null if it is not there any more. */
  readonly statusOf: (node: string) => NodeStatus | null;
  /** How long after it was due a round waits for its votes. */
  readonly limitMs: number;
  /** Whether results of a node that were due then were skipped because this process is overloaded; by default none were. */
  readonly isShed?: ((node: string, dueAt: number) => boolean) | undefined;
  /** Whether the node itself passed over checks that were due then; by default none were. */
  readonly isBusy?: ((node: string, dueAt: number) => boolean) | undefined;
}

/** The nodes that have voted. */
export type HeardNodes = Pick<ReadonlySet<string>, 'has'>;

const nodeLists = new ListPool<string>();

/** Which nodes of a target are to be waited for. */
export class Attendance {
  readonly #options: AttendanceOptions;
  // A target has few nodes, and there are many targets: lists weigh less than a map, and less than objects.
  #nodes: readonly string[] = [];
  /** Of each node: every due time after this is kept or passed over; infinite if none is. */
  #since: number[] = [];
  /** Of each node: it comes to nothing any more that is due before this. */
  #passed: number[] = [];

  constructor(options: AttendanceOptions) {
    this.#options = options;
  }

  /** This node checks or skips every due time after `moment`, unless it has named one before; null if none. */
  keeps(node: string, moment: number | null): void {
    if (moment === null) {
      const known = this.#nodes.indexOf(node);
      if (known >= 0) this.#since[known] = Number.POSITIVE_INFINITY;
      return;
    }
    const index = this.#indexOf(node);
    if (this.#since[index] === Number.POSITIVE_INFINITY) this.#since[index] = moment;
  }

  /** No other node than these keeps anything. */
  keepsOnly(nodes: ReadonlySet<string>): void {
    for (const [index, node] of this.#nodes.entries())
      if (!nodes.has(node)) this.#since[index] = Number.POSITIVE_INFINITY;
  }

  passUntil(node: string, dueAt: number): void {
    const index = this.#indexOf(node);
    if (dueAt > (this.#passed[index] ?? dueAt)) this.#passed[index] = dueAt;
  }

  /** The clock was set back to `now`: no due time is passed over any more, and nodes that keep any keep all from now on. */
  reset(now: number): void {
    this.#passed.fill(Number.NEGATIVE_INFINITY);
    this.#since = this.#since.map((since) => notAhead(since, now));
  }

  isPassed(node: string, dueAt: number): boolean {
    return (this.#passed[this.#nodes.indexOf(node)] ?? Number.NEGATIVE_INFINITY) > dueAt;
  }

  isShed(node: string, dueAt: number): boolean {
    return this.#options.isShed?.(node, dueAt) === true;
  }

  isThere(node: string): boolean {
    const status = this.#options.statusOf(node);
    return status !== null && (status.online || status.starting === true);
  }

  isAwaited(node: string, dueAt: number): boolean {
    return (
      this.#options.statusOf(node)?.online === true && this.#isWatching(node, dueAt) && !this.isPassed(node, dueAt)
    );
  }

  /** Whether any of them is waited for still, if these have voted. */
  awaitsAny(voters: readonly NodeInfo[], votes: HeardNodes | undefined, dueAt: number): boolean {
    for (const { name } of voters) if (votes?.has(name) !== true && this.isAwaited(name, dueAt)) return true;
    return false;
  }

  /** Whether any of them may have kept this by an assignment from before the one that it has named, if these have voted. */
  mayContinueAny(voters: readonly NodeInfo[], votes: HeardNodes | undefined, dueAt: number): boolean {
    const mayContinue = ({ name }: NodeInfo) =>
      this.#options.statusOf(name)?.online === true && !this.#isWatching(name, dueAt) && !this.isPassed(name, dueAt);
    return voters.some((node) => votes?.has(node.name) !== true && mayContinue(node));
  }

  /** Whether each of them has voted or comes to it no more, if these have voted. */
  hasHeardAll(voters: readonly NodeInfo[], votes: HeardNodes | undefined, dueAt: number): boolean {
    for (const { name } of voters) if (votes?.has(name) !== true && !this.isPassed(name, dueAt)) return false;
    return true;
  }

  /**
   * Why none of them has voted, if all are there and none is to blame: `skipped` if one left it out or was not read, `unwatched` if none
   * kept this; else null. `limited` says that nothing is waited for any more.
   */
  idleOf(voters: readonly NodeInfo[], dueAt: number, limited: boolean): 'skipped' | 'unwatched' | null {
    let reason: 'skipped' | 'unwatched' = 'unwatched';
    // An overloaded hub comes here with hundreds of rounds a second.
    for (const { name } of voters) {
      if (!this.isThere(name)) return null;
      if (this.isShed(name, dueAt) || this.isPassed(name, dueAt) || this.#isBusy(name, dueAt)) reason = 'skipped';
      else if (limited && this.isAwaited(name, dueAt)) return null;
    }
    return reason;
  }

  /** The vote of a node that gave none. `wasHeldUp`: this process could not take part in it in time. */
  missing(node: NodeInfo, dueAt: number, wasHeldUp = false): NodeOutcome {
    const status = this.#options.statusOf(node.name);
    if (status?.online !== true)
      return fault(node, 'gone', `the node is offline: ${status?.reason ?? 'it is not there'}`);
    if (this.isShed(node.name, dueAt)) return { node, outcome: shedOutcome };
    if (wasHeldUp) return { node, outcome: heldUpOutcome };
    // It may have voted on a later one meanwhile.
    if (!this.#isWatching(node.name, dueAt)) return fault(node, 'gone', 'the node did not watch this target yet');
    if (this.isPassed(node.name, dueAt))
      return fault(node, 'busy', 'the node did not come to this check before the next one');
    if (this.#isBusy(node.name, dueAt)) return fault(node, 'busy', 'the node has more to check than it can manage');
    return fault(node, 'no_answer', `the node did not answer within ${this.#options.limitMs} ms`);
  }

  #isBusy(node: string, dueAt: number): boolean {
    return this.#options.isBusy?.(node, dueAt) === true;
  }

  #isWatching(node: string, dueAt: number): boolean {
    return (this.#since[this.#nodes.indexOf(node)] ?? Number.POSITIVE_INFINITY) < dueAt;
  }

  #indexOf(node: string): number {
    const index = this.#nodes.indexOf(node);
    if (index >= 0) return index;
    // Neither in place nor by spreading: such a list takes room for sixteen more, and `concat` for what it has.
    this.#nodes = nodeLists.shared(this.#nodes.concat(node));
    this.#since = this.#since.concat(Number.POSITIVE_INFINITY);
    this.#passed = this.#passed.concat(Number.NEGATIVE_INFINITY);
    return this.#nodes.length - 1;
  }
}

// One for all: under overload there are thousands each second.
const shedOutcome = failed(failure('service', 'service_limited', 'hub overload: the result of this node was skipped'));

const heldUpOutcome = failed(
  failure('service', 'service_limited', 'the hub was held up, or its clock was set, when this was due'),
);

/** What a node is said to have found when it is its own fault that it found nothing. */
export function fault(node: NodeInfo, code: 'gone' | 'no_answer' | 'busy', message: string): NodeOutcome {
  return { node, outcome: failed(failure('node', code, message)) };
}
