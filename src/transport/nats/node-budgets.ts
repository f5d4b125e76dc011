import type { Msg } from '@nats-io/transport-node';
import { createBuckets, type Rate } from '#kernel/buckets.ts';
import type { Clock } from '#kernel/clock.ts';
import type { Log } from '#kernel/log.ts';
import type { ResultReceipt } from '#protocol/nodes.ts';
import { createRareLog } from './rare-log.ts';

/** How much each node may send, so that one key cannot keep the hub from the others. */
export interface NodeBudgets {
  /** Drops reports beyond the budget of their node. */
  ofReports(hear: Hear): Hear;
  /** Has nodes send again later what is beyond their budget. */
  ofResults(hear: Hear): Hear;
  /** Says of each node whether something of it was not read within the last minute. */
  marked<Node extends { readonly name: string }>(nodes: readonly Node[]): (Node & { isOverBudget: boolean })[];
}

type Hear = (node: string, message: Msg) => void;

// Ten thousand results a second are some 3 MB. Twice as much as in a second may come at once, such as what was kept during an absence.
const resultBytes: Rate = { count: 16_000_000, perMs: 2_000 };
const resultMessages: Rate = { count: 10_000, perMs: 2_000 };
// A process reports every five seconds, and when what it watches changes.
const reports: Rate = { count: 100, perMs: 2_000 };
const shownMs = 60_000;

export function createNodeBudgets(clock: Clock, log: Log): NodeBudgets {
  const buckets = { bytes: createBuckets(resultBytes, clock), messages: createBuckets(resultMessages, clock) };
  const reportBuckets = createBuckets(reports, clock);
  const exceededAt = new Map<string, number>();
  const logged = createRareLog(clock, (node, count, reason) =>
    log.warn({ node, count, reason }, 'a node sends more than it may; messages are not read'),
  );

  function allowsReport(node: string): boolean {
    if (reportBuckets.waitMs(node, 1) > 0) return exceed(node, 'more than 50 reports a second');
    reportBuckets.take(node, 1);
    return true;
  }

  function allowsResult(node: string, bytes: number): boolean {
    if (buckets.messages.waitMs(node, 1) > 0) return exceed(node, 'more than 5,000 messages a second');
    if (buckets.bytes.waitMs(node, bytes) > 0) return exceed(node, 'more than 8 MB a second');
    buckets.messages.take(node, 1);
    buckets.bytes.take(node, bytes);
    return true;
  }

  function exceed(node: string, reason: string): false {
    exceededAt.set(node, clock.elapsed());
    logged(node, 1, reason);
    return false;
  }

  return {
    ofReports: (hear) => (node, message) => {
      if (allowsReport(node)) hear(node, message);
    },
    ofResults: (hear) => (node, message) => {
      if (allowsResult(node, message.data.length)) return hear(node, message);
      const later = postponement(message.data);
      if (later !== null) message.respond(later);
    },
    marked: (nodes) =>
      nodes.map((node) => {
        const since = exceededAt.get(node.name) ?? Number.NEGATIVE_INFINITY;
        return { ...node, isOverBudget: clock.elapsed() - since < shownMs };
      }),
  };
}

const longestHead = 2_048;

/** Asks for a result or a batch again in some seconds; nothing of it is parsed but its id. Null if it has none. */
function postponement(data: Uint8Array): string | null {
  const head = Buffer.from(data.buffer, data.byteOffset, Math.min(data.byteLength, longestHead)).toString('latin1');
  const ticket = /"ticket":"([\w.~-]{1,1000})"/.exec(head)?.[1];
  return ticket === undefined ? null : JSON.stringify({ ticket, state: 'later', reason: null } satisfies ResultReceipt);
}
