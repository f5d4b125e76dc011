import { type CheckSpec, failed, failure, type NodeInfo, type Outcome } from '#checks/index.ts';
import type { NodeResult, StoredRun } from './ports.ts';

/** A run that was started over the API: its outcomes so far, and callbacks for new ones. */
export class CheckRun implements StoredRun {
  readonly id: string;
  readonly createdAt: number;
  readonly spec: CheckSpec;
  readonly #results: NodeResult[];
  #listeners: Set<() => void> | null = null;
  #finished: number;
  #interims = 0;
  /** What it was answered with last, and by whom, for the next caller; null again with each outcome. */
  answer: { readonly by: object; readonly text: string } | null = null;

  constructor({ id, createdAt, spec, results }: StoredRun) {
    this.id = id;
    this.createdAt = createdAt;
    this.spec = spec;
    this.#results = [...results];
    this.#finished = 0;
    for (const { outcome } of results) if (outcome !== null) this.#finished += 1;
  }

  get results(): readonly NodeResult[] {
    return this.#results;
  }

  /** How many nodes have answered. The outcomes are what they were as long as this number is. */
  get finished(): number {
    return this.#finished;
  }

  /** Changes with each outcome and each interim result. */
  get version(): string {
    return this.#interims === 0 ? String(this.#finished) : `${this.#finished}.${this.#interims}`;
  }

  get done(): boolean {
    return this.#finished === this.#results.length;
  }

  /** Keeps the first outcome of a node and gives its position, or -1 if the node has one or is none of this run. */
  record(node: NodeInfo, outcome: Outcome): number {
    const position = this.#results.findIndex((entry) => entry.node.name === node.name && entry.outcome === null);
    if (position === -1) return -1;
    this.#results[position] = { node, outcome };
    this.#finished += 1;
    this.#changed();
    return position;
  }

  /** Keeps what nodes have measured so far, until they have outcomes. */
  recordInterim(interims: ReadonlyMap<string, Outcome>): void {
    for (const [position, { node, outcome }] of this.#results.entries()) {
      const interim = interims.get(node.name);
      if (outcome === null && interim !== undefined) this.#results[position] = { node, outcome, interim };
    }
    this.#interims += 1;
    this.#changed();
  }

  #changed(): void {
    this.answer = null;
    for (const listener of this.#listeners ?? []) listener();
  }

  /** Calls back after each further outcome or interim result, unless disposed before. */
  onChange(listener: () => void): Disposable {
    const listeners = (this.#listeners ??= new Set());
    listeners.add(listener);
    return { [Symbol.dispose]: () => void listeners.delete(listener) };
  }
}

/** A stored run that is not worked on any more: nodes without an outcome lost it with the process that waited for it. */
export function closedRun(stored: StoredRun): CheckRun {
  const lost = failed(failure('service', 'gone', 'the service was restarted before this node answered'));
  return new CheckRun({
    ...stored,
    results: stored.results.map(({ node, outcome }) => ({ node, outcome: outcome ?? lost })),
  });
}
