import type { Msg } from '@nats-io/transport-node';
import type { Clock } from '#kernel/clock.ts';
import type { Log } from '#kernel/log.ts';
import { readJson } from '#kernel/json.ts';
import { agree, isCheckType, messageLimit, protocolRange, readOutcome, type Receipt } from '#protocol/nodes.ts';
import { Batch, batchBeginning, type Sighting } from '#protocol/watching.ts';
import type { NodeListener } from '#service/ports.ts';

export interface BatchesOptions {
  readonly isEnrolled: (node: string) => boolean;
  /** Called with each process that hands something in. */
  readonly heard: (node: string, process: string) => void;
  readonly listener: () => NodeListener;
  readonly clock: Clock;
  readonly log: Log;
}

// A node goes by the hub's clock as well as it knows that.
const mostAheadMs = 5_000;

/**
 * Takes in what nodes saw of what they watch. A batch has its receipt once all of it is stored or not wanted; what is no
 * outcome, or of a round that is not due yet, is left out.
 */
export function createBatches({ isEnrolled, heard, listener, clock, log }: BatchesOptions) {
  function sightingsOf(node: string, batch: Batch): readonly Sighting[] {
    const known: Sighting[] = [];
    for (const { type, outcome: told, ...sighting } of batch.sightings) {
      const outcome = isCheckType(type) ? readOutcome(type, told) : null;
      if (outcome !== null && sighting.dueAt <= clock.now() + mostAheadMs) known.push({ ...sighting, outcome });
      else log.warn({ node, target: sighting.target, dueAt: sighting.dueAt }, 'what a node saw cannot be used');
    }
    return known;
  }

  return {
    /** False where the message is no batch. */
    take(node: string, message: Msg): boolean {
      const text = message.data.length > messageLimit ? '' : message.string();
      if (!text.startsWith(batchBeginning)) return false;
      const batch = readJson(Batch, text);
      const confirm = (state: Receipt['state'], reason: string | null = null) =>
        void message.respond(JSON.stringify({ ticket: batch?.ticket ?? '?', state, reason } satisfies Receipt));
      const refuse = (reason: string) => {
        log.warn({ node, reason }, 'batch refused');
        confirm('refused', reason);
        return true;
      };
      if (!isEnrolled(node)) return refuse('this node is not enrolled');
      if (batch === null) return refuse('it cannot be read');
      const agreed = agree(protocolRange, batch.protocol);
      if (typeof agreed === 'string') {
        // The hub may be put back to its newer version: the node keeps it until then.
        log.warn({ node, reason: agreed }, 'batch left with the node');
        return true;
      }
      heard(node, batch.process);
      const sightings = sightingsOf(node, batch);
      if (sightings.length === 0) confirm('stored');
      else listener().seen(node, sightings, () => confirm('stored'));
      return true;
    },
  };
}
