import { type Outcome, checkOf, type CheckTypeName } from '#checks/index.ts';

/** What of a target can change besides its state: how it is watched, the certificate that it presents, what it answers. */
export type ChangeKind = 'reload' | 'certificate' | 'answers';

/** A change. The first of a kind at a node is the state at the first observation. */
export interface TargetChange {
  readonly target: string;
  readonly kind: ChangeKind;
  /** The node that saw it; null if none did. */
  readonly node: string | null;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** What it is from then on: for a certificate JSON, otherwise text. */
  readonly value: string;
}

/** Where changes are kept. */
export interface ChangeStore {
  /** The newest of each kind at each node of each target. */
  newestChanges(): readonly TargetChange[];
  /** The changes of a target, the newest first. */
  changesOf(target: string): readonly TargetChange[];
  /** Stores changes, and forgets the oldest of a kind if there are many. */
  addChanges(changes: readonly TargetChange[]): void;
}

/** Compares what each round saw with what was seen before. */
export interface ChangeKeeper {
  roundDone(target: string, check: CheckTypeName, dueAt: number, votes: readonly ChangeVote[]): void;
  /** The configuration of these targets is another from now on. */
  reloaded(targets: readonly string[], at: number): void;
  /** A target is not watched any more. What is known of it stays in the store. */
  forget(target: string): void;
}

interface ChangeVote {
  readonly node: { readonly name: string };
  readonly outcome: Outcome;
}

const valuesOf = (all: readonly TargetChange[]) => new Map(all.map((change) => [keyOf(change), change.value]));
const keyOf = ({ kind, node }: Pick<TargetChange, 'kind' | 'node'>) => `${kind}\n${node ?? ''}`;

/** `failed` hears where cannot store a change; it is noticed again in the next round. */
export function createChangeKeeper(store: ChangeStore, failed: (error: unknown) => void): ChangeKeeper {
  const known = new Map(
    [...Map.groupBy(store.newestChanges(), ({ target }) => target)].map(([target, all]) => [target, valuesOf(all)]),
  );

  // One that was watched before, and is again, goes on with what was known of it.
  function newestOf(target: string): Map<string, string> {
    const values = known.get(target) ?? valuesOf(store.changesOf(target).toReversed());
    known.set(target, values);
    return values;
  }

  function add(all: readonly TargetChange[]): void {
    if (all.length > 0) store.addChanges(all);
  }

  function addNews(all: readonly TargetChange[]): void {
    const fresh = all.filter((change) => newestOf(change.target).get(keyOf(change)) !== change.value);
    add(fresh);
    for (const change of fresh) newestOf(change.target).set(keyOf(change), change.value);
  }

  function attempt(action: () => void): void {
    try {
      action();
    } catch (error) {
      failed(error);
    }
  }

  return {
    roundDone(target, check, at, votes) {
      const type = checkOf(check);
      if (type.answers === null && type.certificate === null) return;
      const all: TargetChange[] = [];
      for (const { node, outcome } of votes) {
        const certificate = type.certificate?.(outcome) ?? null;
        const answers = outcome.status === 'up' ? (type.answers?.(outcome) ?? null) : null;
        const change = { target, node: node.name, at };
        if (certificate !== null) all.push({ ...change, kind: 'certificate', value: JSON.stringify(certificate) });
        if (answers !== null) all.push({ ...change, kind: 'answers', value: answers.toSorted().join('\n') });
      }
      if (all.length === 0) return;
      attempt(() => addNews(all));
    },
    forget: (target) => void known.delete(target),
    reloaded(targets, at) {
      attempt(() => add(targets.map((target) => ({ target, kind: 'reload', node: null, at, value: String(at) }))));
    },
  };
}
