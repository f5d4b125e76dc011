import type { Clock } from '#kernel/clock.ts';
import type { PassedChecks } from '#protocol/watching.ts';
import { DueSpans } from './due-spans.ts';
import { createMinuteCount, type MinuteCount } from './minute-count.ts';
import type { NodeStatus, Transport } from './ports.ts';

export interface CountedTime {
  /** What was left out within so long is counted; default: a minute. */
  readonly countedMs?: number | undefined;
}

/** A node that has more to check than it can manage, and how many checks it left out within the last minute. */
export interface OverloadedNode {
  readonly node: string;
  readonly checks: number;
}

/** The nodes of a transport as they were at the last look. */
export class WatchingNodes {
  readonly #transport: Pick<Transport, 'nodes'>;
  #statuses: ReadonlyMap<string, NodeStatus> = new Map();
  #fingerprint = '';
  /** Nodes that were offline at the last look and have been heard since. */
  readonly #heard = new Set<string>();
  readonly #clock: Clock;
  readonly #countedMs: number | undefined;
  readonly #passed = new DueSpans();
  readonly #passedLately = new Map<string, MinuteCount>();

  constructor(transport: Pick<Transport, 'nodes'>, clock: Clock, countedMs?: number) {
    this.#transport = transport;
    this.#clock = clock;
    this.#countedMs = countedMs;
  }

  /** Those that targets may have: one that is being started is as good as there. */
  get candidates(): readonly NodeStatus[] {
    return [...this.#statuses.values()].map((status) =>
      status.starting === true ? { ...status, online: true } : status,
    );
  }

  /** The names of those that watch by themselves what they are assigned. */
  get keepingTime(): readonly string[] {
    return [...this.#statuses.values()].filter(({ keepsTime }) => keepsTime === true).map(({ info }) => info.name);
  }

  find(node: string): NodeStatus | null {
    return this.#statuses.get(node) ?? null;
  }

  /** A node passed over these, for it had more to check than it could. */
  passedOver(node: string, { checks, due }: PassedChecks): void {
    this.#passed.add(node, due, this.#clock.now());
    const lately = this.#passedLately.get(node) ?? createMinuteCount(this.#clock, this.#countedMs);
    this.#passedLately.set(node, lately);
    lately.add(checks);
  }

  /** Nodes that had more to check within the last minute than they could manage, those that left out the most first. */
  overloaded(): readonly OverloadedNode[] {
    const found = [...this.#passedLately].flatMap(([node, lately]) => {
      const checks = lately.sum();
      if (checks === 0) this.#passedLately.delete(node);
      return checks === 0 ? [] : [{ node, checks }];
    });
    return found.toSorted((a, b) => b.checks - a.checks);
  }

  /** Whether it may have passed over what was due then. */
  isBusy(node: string, dueAt: number): boolean {
    return this.#passed.has(node, dueAt);
  }

  /** Looks again: whether they are others than before or can do other things, and which of them are online again. */
  look(): { readonly isChanged: boolean; readonly returned: readonly string[] } {
    const before = this.#statuses;
    const statuses = this.#transport.nodes();
    this.#statuses = new Map(statuses.map((status) => [status.info.name, status]));
    const fingerprint = fingerprintOf(statuses);
    const isChanged = fingerprint !== this.#fingerprint;
    this.#fingerprint = fingerprint;
    const isBack = ({ info, online, keepsTime }: NodeStatus) =>
      online && keepsTime === true && before.get(info.name)?.online === false;
    const returned = isChanged ? statuses.filter(isBack).map(({ info }) => info.name) : [];
    for (const node of returned) this.#heard.delete(node);
    return { isChanged, returned };
  }

  /** Whether an offline node is heard for the first time since it went away. */
  isReturning(node: string): boolean {
    if (this.#heard.has(node)) return false;
    this.#heard.add(node);
    return true;
  }
}

// What has to be the same for nodes to be given the same to watch, and to be waited for.
function fingerprintOf(statuses: readonly NodeStatus[]): string {
  return JSON.stringify(
    statuses.map(({ info, online, starting, keepsTime }) => [info, online, starting === true, keepsTime === true]),
  );
}
