import type { Msg } from '@nats-io/transport-node';
import type { Clock } from '#kernel/clock.ts';
import type { Log } from '#kernel/log.ts';
import { parseJson } from '#kernel/json.ts';
import { agree, isCheckType, messageLimit, protocolRange, type ResultReceipt } from '#protocol/nodes.ts';
import { batchBeginning, type Observation, readWireResults, type WireResult } from '#protocol/watching.ts';
import type { NodeListener, ResultBatch, UnreadBatch } from '#service/ports.ts';
import { type BatchSummary, readBatchHead } from './batch-head.ts';
import { createOutcomeReader } from './outcome-reader.ts';
import { createRareLog } from './rare-log.ts';

export interface BatchesOptions {
  readonly isEnrolled: (node: string) => boolean;
  /** Called with each process that hands something in. */
  readonly heard: (node: string, process: string) => void;
  /** Called with how many results of a node were refused. */
  readonly refused: (node: string, results: number) => void;
  /** Sends the answer to a batch, if there is a connection. */
  readonly answer: (subject: string, payload: string) => void;
  readonly listener: () => NodeListener;
  readonly clock: Clock;
  readonly log: Log;
}

// A node goes by the hub's clock as well as it knows that.
const mostAheadMs = 5_000;

/** Observations that can be used, and why others cannot be. */
interface BatchContent {
  readonly usable: readonly Observation[];
  readonly discarded: number;
  /** Of the last of them. */
  readonly reason: string | null;
}

// It tells that too many came; the results are skipped.
const hubOverload = 'hub overload: these results were not read in time';

/**
 * Takes in what nodes saw of what they watch: only the head of a batch at once, its results when the listener comes to them. A batch has its receipt once all of it is stored or not wanted. What is no outcome, of
 * a round that is not due yet, or of a moment that is no due time of its target is discarded: the receipt says how much, and why.
 */
export function createBatches(options: BatchesOptions) {
  const { isEnrolled, heard, refused, listener, clock, log } = options;
  const readOutcome = createOutcomeReader((target) => listener().watches?.(target) === true);
  const logged = createRareLog(clock, (node, count, reason) =>
    log.warn({ node, count, reason }, 'discarded results of a node'),
  );

  function sort(node: string, results: readonly WireResult[]): BatchContent {
    const usable: Observation[] = [];
    let reason: string | null = null;
    for (const { target, revision, type, dueAt, startedAt, outcome: written } of results) {
      const outcome = isCheckType(type) ? readOutcome(target, type, written) : null;
      const observation = outcome === null ? null : { target, revision, dueAt, startedAt, outcome };
      const why = observation === null ? `it is no outcome of a ${type} check` : refusalOf(node, observation);
      reason = why ?? reason;
      if (observation !== null && why === null) usable.push(observation);
    }
    const discarded = results.length - usable.length;
    if (discarded > 0) refused(node, discarded);
    if (reason !== null) logged(node, discarded, reason);
    return { usable, discarded, reason };
  }

  function refusalOf(node: string, observation: Observation): string | null {
    if (observation.dueAt > clock.now() + mostAheadMs) return `${observation.target} is not due yet`;
    return listener().refuses?.(node, observation) ?? null;
  }

  function confirm(reply: string, receipt: ResultReceipt): void {
    const grant = listener().granted?.() ?? 1;
    if (reply !== '') options.answer(reply, JSON.stringify(grant < 1 ? { ...receipt, grant } : receipt));
  }

  function refuse(node: string, reply: string, ticket: string, reason: string): void {
    log.warn({ node, reason }, 'batch refused');
    confirm(reply, { ticket, state: 'refused', reason });
  }

  // The message itself is not kept: it would hold all that came with it.
  function unreadOf(node: string, reply: string, data: Buffer, head: BatchSummary): UnreadBatch {
    const { ticket, isNews, due, results } = head;
    return {
      node,
      bytes: data.length,
      isNews,
      due,
      results,
      read: () => read(node, reply, ticket, data),
      skip: () => confirm(reply, { ticket, state: 'stored', reason: hubOverload, skipped: results }),
      postpone: () => confirm(reply, { ticket, state: 'later', reason: null }),
    };
  }

  function read(node: string, reply: string, ticket: string, data: Buffer): ResultBatch | null {
    const results = readWireResults(parseJson(data.toString()));
    if (results === null) {
      refuse(node, reply, ticket, 'it cannot be read');
      return null;
    }
    const { usable, discarded, reason } = sort(node, results);
    const state = usable.length === 0 && discarded > 0 ? 'refused' : 'stored';
    const answer = () => confirm(reply, { ticket, state, reason, ...(discarded > 0 && { discarded }) });
    if (usable.length > 0) return { node, observations: usable, confirm: answer };
    answer();
    return null;
  }

  return {
    /** False if the message is no batch. */
    take(node: string, { data, reply = '' }: Pick<Msg, 'data' | 'reply'>): boolean {
      const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
      if (bytes.length > messageLimit || !bytes.subarray(0, batchBeginning.length).equals(beginning)) return false;
      const head = readBatchHead(bytes, clock.now());
      if (!isEnrolled(node)) refuse(node, reply, head?.ticket ?? '?', 'this node is not enrolled');
      else if (head === null) refuse(node, reply, '?', 'it cannot be read');
      else {
        const agreed = agree(protocolRange, head.protocol);
        // The hub may be put back to its newer version: the node keeps it until then.
        if (typeof agreed === 'string') log.warn({ node, reason: agreed }, 'batch deferred; the node keeps it');
        else take(unreadOf(node, reply, Buffer.from(bytes), head), head);
      }
      return true;
    },
  };

  function take(unread: UnreadBatch, { process, skipped, passed }: BatchSummary): void {
    heard(unread.node, process);
    const current = listener();
    if (skipped !== undefined) current.skipped?.(unread.node, skipped.due, skipped.results);
    if (passed !== undefined) current.passedOver?.(unread.node, passed);
    if (current.receive !== undefined) return current.receive(unread);
    const batch = unread.read();
    if (batch !== null) current.seen(batch.node, batch.observations, batch.confirm);
  }
}

const beginning = Buffer.from(batchBeginning);
