import { type ElapsedBetween, plainlyBetween } from '#kernel/clock-steps.ts';
import type { DecisionContext } from '../judge/decide.ts';
import type { Vote } from '../judge/vote.ts';
import { defaultDoubtLimitMs } from './hold-limit.ts';
import type { ObservedRound, Quarantine, TrustChange } from './quarantine.ts';

/** Whose votes count. A suspected node is the only witness of some targets: after a while its votes on these count again. */
export interface NodeSuspicion {
  /** For how long the votes of a suspected node count for nothing if no other node has one, in milliseconds. */
  limitMs: number;
  observe(round: ObservedRound, now: number): readonly TrustChange[];
  /** Takes a node for suspected since then, before the program was started. */
  restore(node: string, since: number): void;
  /** The nodes whose votes do not count in this round, and what is in doubt if the votes of a suspected one do. */
  of(votes: readonly Vote[], now: number): Pick<DecisionContext, 'suspected' | 'doubt'>;
  /** The clock was set back to `now`: none was suspected after that. */
  setBack(now: number): void;
}

export function createSuspects(quarantine: Quarantine, elapsedBetween: ElapsedBetween = plainlyBetween): NodeSuspicion {
  const { suspected } = quarantine;
  const sinces = new Map<string, number>();
  const plain = { suspected };
  const trustless: ReadonlySet<string> = new Set();

  return {
    limitMs: defaultDoubtLimitMs,
    observe(round, now) {
      const changes = quarantine.observe(round);
      for (const { kind, node } of changes) {
        if (kind === 'suspected') sinces.set(node.name, now);
        else sinces.delete(node.name);
      }
      return changes;
    },
    restore(node, since) {
      quarantine.restore(node);
      sinces.set(node, since);
    },
    of(votes, now) {
      if (suspected.size === 0) return plain;
      const known = votes.filter(({ outcome }) => outcome.status !== 'unknown').map(({ node }) => node.name);
      const since = Math.min(...known.map((name) => sinces.get(name) ?? now));
      if (known.length === 0 || known.some((name) => !suspected.has(name))) return plain;
      if (elapsedBetween(since, now) < this.limitMs) return plain;
      const why = `seen by suspected nodes only: ${known.join(', ')}`;
      return { suspected: trustless, doubt: { or: 'its nodes are at fault', why, since } };
    },
    setBack(now) {
      for (const [node, since] of sinces) sinces.set(node, Math.min(since, now));
    },
  };
}
