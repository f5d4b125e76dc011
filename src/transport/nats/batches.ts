import type { Msg } from '@nats-io/transport-node';
import type { Clock } from '#kernel/clock.ts';
import type { Log } from '#kernel/log.ts';
import { readJson } from '#kernel/json.ts';
import { agree, isCheckType, messageLimit, protocolRange, readOutcome, type ResultReceipt } from '#protocol/nodes.ts';
import { Batch, batchBeginning, type Observation } from '#protocol/watching.ts';
import type { NodeListener } from '#service/ports.ts';

export interface BatchesOptions {
  readonly isEnrolled: (node: string) => boolean;
  /** Called with each process that hands something in. */
  readonly heard: (node: string, process: string) => void;
  /** Called with how many results of a node were refused. */
  readonly refused: (node: string, results: number) => void;
  readonly listener: () => NodeListener;
  readonly clock: Clock;
  readonly log: Log;
}

// A node goes by the hub's clock as well as it knows that.
const mostAheadMs = 5_000;
const logEveryMs = 60_000;

/** Sightings that can be used, and why others cannot be. */
interface BatchContent {
  readonly usable: readonly Observation[];
  readonly discarded: number;
  /** Of the last of them. */
  readonly reason: string | null;
}

/**
 * Takes in what nodes saw of what they watch. A batch has its receipt once all of it is stored or not wanted. What is no outcome, of
 * a round that is not due yet, or of a moment that is no due time of its target is discarded: the receipt says how much, and why.
 */
export function createBatches({ isEnrolled, heard, refused, listener, clock, log }: BatchesOptions) {
  const logged = createRareLog(clock, log);

  function sort(node: string, batch: Batch): BatchContent {
    const usable: Observation[] = [];
    let reason: string | null = null;
    for (const { type, outcome: told, ...sighting } of batch.sightings) {
      const outcome = isCheckType(type) ? readOutcome(type, told) : null;
      const why = outcome === null ? `it is no outcome of a ${type} check` : refusalOf(node, { ...sighting, outcome });
      reason = why ?? reason;
      if (outcome !== null && why === null) usable.push({ ...sighting, outcome });
    }
    const discarded = batch.sightings.length - usable.length;
    if (discarded > 0) refused(node, discarded);
    if (reason !== null) logged(node, discarded, reason);
    return { usable, discarded, reason };
  }

  function refusalOf(node: string, sighting: Observation): string | null {
    if (sighting.dueAt > clock.now() + mostAheadMs) return `${sighting.target} is not due yet`;
    return listener().refuses?.(node, sighting) ?? null;
  }

  return {
    /** False where the message is no batch. */
    take(node: string, message: Pick<Msg, 'data' | 'string' | 'respond'>): boolean {
      const text = message.data.length > messageLimit ? '' : message.string();
      if (!text.startsWith(batchBeginning)) return false;
      const batch = readJson(Batch, text);
      const confirm = (state: ResultReceipt['state'], reason: string | null = null, discarded = 0) => {
        const receipt: ResultReceipt = { ticket: batch?.ticket ?? '?', state, reason };
        message.respond(JSON.stringify(discarded === 0 ? receipt : { ...receipt, discarded }));
      };
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
        log.warn({ node, reason: agreed }, 'batch deferred; the node keeps it');
        return true;
      }
      heard(node, batch.process);
      const { usable, discarded, reason } = sort(node, batch);
      const answer = () => confirm(usable.length === 0 && discarded > 0 ? 'refused' : 'stored', reason, discarded);
      if (usable.length === 0) answer();
      else listener().seen(node, usable, answer);
      return true;
    },
  };
}

/** Logs what a node's results are discarded for: at once, then the count of a minute in one line. */
function createRareLog(clock: Clock, log: Log) {
  const nodes = new Map<string, { since: number; more: number }>();
  return (node: string, count: number, reason: string): void => {
    const known = nodes.get(node);
    if (known !== undefined && clock.elapsed() - known.since < logEveryMs) {
      known.more += count;
      return;
    }
    log.warn({ node, count: count + (known?.more ?? 0), reason }, 'discarded results of a node');
    nodes.set(node, { since: clock.elapsed(), more: 0 });
  };
}
