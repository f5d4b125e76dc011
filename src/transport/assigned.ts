import type { NodeMessage, LocalTarget, HubMessage } from '#node/ports.ts';
import type { Assignment, AssignedTarget, Observation } from '#protocol/watching.ts';
import type { NodeListener } from '#service/ports.ts';
import type { CrashSuspects } from './suspects.ts';

/** The assignment of a thread, and its listener. */
export interface ThreadAssignments {
  readonly busy: SharedArrayBuffer;
  assign(assignment: Assignment): void;
  retime(aheadMs: number): void;
  /** The thread is there, and knows nothing yet. */
  begin(): void;
  hear(message: Extract<NodeMessage, { kind: 'watching' | 'seen' }>): void;
  /** The thread is gone; gives what it was checking. */
  lost(): readonly AssignedTarget[];
  /** Sends the assignment again if checks were suspended, or need not be any more. */
  lookAtRefusals(): void;
}

export interface ThreadAssignmentsOptions {
  readonly node: string;
  readonly suspects: CrashSuspects;
  readonly listener: () => NodeListener;
  /** Sends to the thread, if it is there. */
  readonly send: (message: HubMessage) => void;
}

export function createThreadWatching({ node, suspects, listener, send }: ThreadAssignmentsOptions): ThreadAssignments {
  const assigned = createAssigned(suspects);
  let aheadMs = 0;

  const sendAssignment = (content: ReturnType<typeof assigned.take>) => {
    if (content !== null) send({ kind: 'watch', ...content });
  };
  const lookAtRefusals = () => {
    if (assigned.isOutdated) sendAssignment(assigned.take());
  };

  return {
    busy: assigned.busy,
    lookAtRefusals,
    assign: (assignment) => sendAssignment(assigned.take(assignment)),
    retime(ms) {
      aheadMs = ms;
      send({ kind: 'clock', aheadMs });
    },
    begin() {
      if (aheadMs !== 0) send({ kind: 'clock', aheadMs });
      sendAssignment(assigned.take());
    },
    hear(message) {
      if (message.kind === 'watching') return listener().watching(node, message.number, message.since);
      assigned.ended(message.observations);
      if (message.passed !== null) listener().passedOver?.(node, message.passed);
      listener().seen(node, message.observations, null, message.isNews);
      lookAtRefusals();
    },
    lost() {
      listener().watching(node, 0, Number.POSITIVE_INFINITY);
      return assigned.lost();
    },
  };
}

/** What the thread of a node is to watch, whatever happens to the thread. */
interface AssignmentSource {
  /** Where the thread notes which checks run. */
  readonly busy: SharedArrayBuffer;
  /** The assignment as it is to be sent now, or null if there is none. */
  take(next?: Assignment): { readonly number: number; readonly targets: readonly LocalTarget[] } | null;
  /** Whether the assignment differs from the one that was sent: checks were suspended, or need not be any more. */
  readonly isOutdated: boolean;
  /** The thread came to the end of these. */
  ended(observations: readonly Observation[]): void;
  /** The targets whose checks ran when the thread was lost; forgets that they did. */
  lost(): readonly AssignedTarget[];
}

// Targets beyond so many are watched like others, but never found to be what ends a thread.
const places = 2 ** 17;

function createAssigned(suspects: CrashSuspects): AssignmentSource {
  const busy = new SharedArrayBuffer(places);
  const isBusy = new Uint8Array(busy);
  const placeOf = new Map<string, number>();
  const refusals = new Map<string, string>();
  let targets = new Map<string, AssignedTarget>();
  const free: number[] = [];
  let number: number | null = null;

  function exchange(next: Assignment): void {
    ({ number } = next);
    targets = new Map(next.targets.map((target) => [target.name, target]));
    for (const [name, place] of placeOf) {
      if (targets.has(name)) continue;
      placeOf.delete(name);
      free.push(place);
    }
    for (const name of targets.keys()) if (!placeOf.has(name)) placeOf.set(name, free.pop() ?? placeOf.size);
  }

  return {
    busy,
    take(next) {
      if (next !== undefined) exchange(next);
      if (number === null) return null;
      refusals.clear();
      const local = [...targets.values()].map((target): LocalTarget => {
        const refusal = suspects.refusal(target);
        if (refusal !== null) refusals.set(target.name, refusal);
        return { ...target, place: placeOf.get(target.name) ?? places, refusal: refusal ?? target.unreadable ?? null };
      });
      return { number, targets: local };
    },
    get isOutdated() {
      if (suspects.areNone && refusals.size === 0) return false;
      for (const target of targets.values()) {
        if ((suspects.refusal(target) !== null) !== refusals.has(target.name)) return true;
      }
      return false;
    },
    ended(observations) {
      if (suspects.areNone) return;
      for (const { target: name } of observations) {
        const target = targets.get(name);
        if (target !== undefined) suspects.cleared(target);
      }
    },
    lost() {
      const running = [...targets.values()].filter(({ name }) => isBusy[placeOf.get(name) ?? places] === 1);
      isBusy.fill(0);
      return running;
    },
  };
}
