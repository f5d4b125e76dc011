import type { Incident } from '#monitor/judge/incident.ts';
import { type Entry, listed, noSpreads } from './entry.ts';
import { KeptVotes, type LiveVotes } from './kept-votes.ts';
import type { BoardTarget, LiveTarget } from './live-target.ts';

const noVotes: LiveVotes = new KeptVotes();
const noChanges: LiveTarget['changes'] = [];

/** A target as it is at this moment. For a page there are ten thousand of these: a copy of all that is known would weigh a kilobyte each. */
export class SeenTarget implements LiveTarget {
  readonly #target: BoardTarget;
  readonly #seen: Entry | null;
  readonly status: LiveTarget['status'];
  readonly firstDueAt: number | null | undefined;
  readonly since: number | null;
  readonly dueAt: number | null;
  readonly changes: LiveTarget['changes'];
  readonly rounds: number;
  readonly incidents: readonly Incident[];
  readonly entry: object;

  /** `seen` is null if nothing was seen of it; the rest depends on the moment. */
  constructor(
    target: BoardTarget,
    seen: Entry | null,
    { status, since, firstDueAt, incidents }: Pick<LiveTarget, 'status' | 'since' | 'firstDueAt' | 'incidents'>,
  ) {
    this.#target = target;
    this.#seen = seen;
    this.status = status;
    this.since = since;
    this.firstDueAt = firstDueAt;
    this.incidents = incidents;
    this.dueAt = seen?.dueAt ?? null;
    this.changes = seen?.changes ?? noChanges;
    this.rounds = seen?.rounds ?? 0;
    this.entry = seen ?? {};
  }

  get name(): string {
    return this.#target.name;
  }

  get check(): LiveTarget['check'] {
    return this.#target.check;
  }

  get host(): string {
    return this.#target.host;
  }

  get labels(): LiveTarget['labels'] {
    return this.#target.labels;
  }

  get hasObjective(): boolean {
    return this.#target.hasObjective;
  }

  get rules(): LiveTarget['rules'] {
    return this.#target.rules;
  }

  get everyMs(): number | null {
    return this.#target.everyMs;
  }

  get holdsMs(): number {
    return this.#target.holdsMs;
  }

  get nextDue(): LiveTarget['nextDue'] {
    return this.#target.nextDue;
  }

  get nextPing(): LiveTarget['nextPing'] {
    return this.#target.nextPing;
  }

  get votes(): LiveVotes {
    return this.#seen?.votes ?? noVotes;
  }

  get recent(): readonly (number | null)[] {
    return (this.#seen?.recent ?? []).map((seconds) => (Number.isNaN(seconds) ? null : seconds));
  }

  get spreads(): LiveTarget['spreads'] {
    const spreads = this.#seen?.spreads ?? null;
    return spreads === null ? noSpreads : listed(spreads, this.votes.statuses());
  }
}
