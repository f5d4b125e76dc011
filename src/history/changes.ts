import { type Outcome, checkOf, type CheckTypeName } from '#checks/index.ts';

/** What of a target can change besides its state: how it is watched, the certificate that it presents, what it answers. */
export type ChangeKind = 'reload' | 'certificate' | 'answers';

/** A change that somebody noticed. The first of a kind at a node is how it was when it was looked at first. */
export interface Change {
  readonly target: string;
  readonly kind: ChangeKind;
  /** The node that saw it; null where none did. */
  readonly node: string | null;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** What it is from then on: for a certificate JSON, otherwise text. */
  readonly value: string;
}

/** Where changes are kept. */
export interface ChangeStore {
  /** The newest of each kind at each node of each target. */
  newestChanges(): readonly Change[];
  /** The changes of a target, the newest first. */
  changesOf(target: string): readonly Change[];
  /** Stores changes, and forgets the oldest of a kind where there are many. */
  addChanges(changes: readonly Change[]): void;
}

/** Compares what each round saw with what was seen before. */
export interface ChangeKeeper {
  roundDone(target: string, check: CheckTypeName, dueAt: number, votes: readonly SeenVote[]): void;
  /** The configuration of these targets is another from now on. */
  reloaded(targets: readonly string[], at: number): void;
}

interface SeenVote {
  readonly node: { readonly name: string };
  readonly outcome: Outcome;
}

const keyOf = ({ target, kind, node }: Pick<Change, 'target' | 'kind' | 'node'>) => `${target}\n${kind}\n${node ?? ''}`;

/** `failed` hears where a change could not be stored; it is noticed again in the next round. */
export function createChangeKeeper(store: ChangeStore, failed: (error: unknown) => void): ChangeKeeper {
  const known = new Map(store.newestChanges().map((change) => [keyOf(change), change.value]));

  function keep(all: readonly Change[]): void {
    const fresh = all.filter((change) => known.get(keyOf(change)) !== change.value);
    if (fresh.length === 0) return;
    try {
      store.addChanges(fresh);
      for (const change of fresh) known.set(keyOf(change), change.value);
    } catch (error) {
      failed(error);
    }
  }

  return {
    roundDone(target, check, at, votes) {
      const type = checkOf(check);
      if (type.answers === null && type.certificate === null) return;
      keep(
        votes.flatMap(({ node, outcome }) => {
          const certificate = type.certificate?.(outcome) ?? null;
          const answers = outcome.status === 'up' ? (type.answers?.(outcome) ?? null) : null;
          const change = { target, node: node.name, at };
          return [
            ...(certificate === null
              ? []
              : [{ ...change, kind: 'certificate' as const, value: JSON.stringify(certificate) }]),
            ...(answers === null
              ? []
              : [{ ...change, kind: 'answers' as const, value: answers.toSorted().join('\n') }]),
          ];
        }),
      );
    },
    reloaded(targets, at) {
      keep(targets.map((target) => ({ target, kind: 'reload', node: null, at, value: String(at) })));
    },
  };
}
