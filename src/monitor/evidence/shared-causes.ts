import type { Conclusion, FailureCode } from '#checks/index.ts';
import { type GatheredEvidence, gatheringsOf } from '#history/evidence.ts';
import type { Incident } from '../judge/incident.ts';
import { commonestCode } from './decision.ts';
import { stormLimits } from './storm.ts';

/** An incident, as far as it says which others it belongs with. */
export type SharingIncident = Pick<Incident, 'target' | 'openedAt' | 'votes'>;

/**
 * What the evidence of targets that were examined says of others that failed at the same time: nodes examine a few at a time, and messages do
 * not wait. In memory, since it matters for minutes.
 */
export interface SharedCauses {
  /** To be called with what was gathered at one moment about a failing target. */
  examined(incident: SharingIncident, evidence: readonly GatheredEvidence[]): void;
  /** Forgets everything: to be called when no target fails any more. */
  clear(): void;
  /** A sentence for an incident without evidence of its own; null unless most of those examined agree. */
  sharedBy(incident: SharingIncident): string | null;
}

interface Examination {
  readonly target: string;
  readonly openedAt: number;
  readonly code: FailureCode | null;
  readonly text: string | null;
}

const fewestAgreeing = 2;
const mostRemembered = 200;

// Causes that lie outside a target: other rules are about its own server.
const sharedRules: ReadonlySet<string> = new Set([
  'path-ends',
  'path-ends-now',
  'path-same-router',
  'path-rejected',
  'path-unreachable',
  'path-loop',
  'path-mtu',
  'resolver-fails',
  'servers-silent',
  'uplink-gateway',
  'uplink-down',
]);

/** `concludeFrom` gives what evidence shows. */
export function createSharedCauses(concludeFrom = conclusionsOf): SharedCauses {
  // By target, the one examined last at the end.
  const known = new Map<string, Examination>();
  return {
    examined({ target, openedAt, votes }, evidence) {
      if (evidence.every(({ document }) => document === null)) return;
      const text = concludeFrom(evidence).find(({ rule }) => sharedRules.has(rule))?.text ?? null;
      known.delete(target);
      known.set(target, { target, openedAt, code: commonestCode(votes), text });
      for (const oldest of known.keys()) {
        if (known.size <= mostRemembered) break;
        known.delete(oldest);
      }
    },
    clear: () => known.clear(),
    sharedBy({ target, openedAt, votes }) {
      const code = commonestCode(votes);
      if (code === null) return null;
      const alike = [...known.values()].filter(
        (one) =>
          one.target !== target && one.code === code && Math.abs(one.openedAt - openedAt) <= stormLimits.togetherMs,
      );
      const byText = Map.groupBy(
        alike.filter((one) => one.text !== null),
        ({ text }) => text,
      );
      const [most] = [...byText.values()].toSorted((a, b) => b.length - a.length);
      const text = most?.[0]?.text ?? null;
      if (most === undefined || text === null) return null;
      if (most.length < fewestAgreeing || most.length * 2 <= alike.length) return null;
      const seen = `seen at ${most.length} of ${alike.length} examined targets that failed at the same time`;
      return `${text.replace(/\.$/, '')} (${seen}).`;
    },
  };
}

function conclusionsOf(evidence: readonly GatheredEvidence[]): readonly Conclusion[] {
  return gatheringsOf(evidence).flatMap(({ conclusions }) => conclusions);
}
