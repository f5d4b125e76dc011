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
  /** Says of each node whether something of it was not read within the last minute, and why. */
  marked<Node extends { readonly name: string }>(nodes: readonly Node[]): (Node & BudgetMark)[];
  /** Which nodes were over their budget within the last minute, and why, or null. */
  exceeded(): string | null;
}

export interface BudgetMark {
  readonly isOverBudget: boolean;
  readonly overBudget: string | null;
}

type Hear = (node: string, message: Msg) => void;

// Ten thousand results a second are some 3 MB. Twice as much as in a second may come at once, such as what was kept during an absence.
const resultBytes: Rate = { count: 16_000_000, perMs: 2_000 };
const resultMessages: Rate = { count: 10_000, perMs: 2_000 };
// A process reports every five seconds, and when what it watches changes.
const reports: Rate = { count: 100, perMs: 2_000 };
// Sixteen processes serve a node at most; each makes up a name when it starts.
const mostNames = 64;
const shownMs = 60_000;

export function createNodeBudgets(clock: Clock, log: Log): NodeBudgets {
  const buckets = { bytes: createBuckets(resultBytes, clock), messages: createBuckets(resultMessages, clock) };
  const reportBuckets = createBuckets(reports, clock);
  const excesses = new Map<string, { readonly at: number; readonly reason: string }>();
  const names = createProcessNames(clock);
  const logged = createRareLog(clock, (node, count, reason) =>
    log.warn({ node, count, reason }, 'a node sends more than it may; messages are not read'),
  );

  function allowsName(node: string, data: Uint8Array): boolean {
    const process = processIn(data);
    return process === null || names.take(node, process) || exceed(node, `more than ${mostNames} processes a minute`);
  }

  function allowsReport(node: string, data: Uint8Array): boolean {
    if (reportBuckets.waitMs(node, 1) > 0) return exceed(node, 'more than 50 reports a second');
    reportBuckets.take(node, 1);
    return allowsName(node, data);
  }

  function allowsResult(node: string, data: Uint8Array): boolean {
    const bytes = data.length;
    if (buckets.messages.waitMs(node, 1) > 0) return exceed(node, 'more than 5,000 messages a second');
    if (buckets.bytes.waitMs(node, bytes) > 0) return exceed(node, 'more than 8 MB a second');
    buckets.messages.take(node, 1);
    buckets.bytes.take(node, bytes);
    return allowsName(node, data);
  }

  function exceed(node: string, reason: string): false {
    excesses.set(node, { at: clock.elapsed(), reason });
    logged(node, 1, reason);
    return false;
  }

  function excessOf(node: string): string | null {
    const excess = excesses.get(node);
    return excess !== undefined && clock.elapsed() - excess.at < shownMs ? excess.reason : null;
  }

  return {
    ofReports: (hear) => (node, message) => {
      if (allowsReport(node, message.data)) hear(node, message);
    },
    ofResults: (hear) => (node, message) => {
      if (allowsResult(node, message.data)) return hear(node, message);
      const later = postponement(message.data);
      if (later !== null) message.respond(later);
    },
    marked: (nodes) =>
      nodes.map((node) => {
        const overBudget = excessOf(node.name);
        return { ...node, isOverBudget: overBudget !== null, overBudget };
      }),
    exceeded() {
      const all = [...excesses.keys()].flatMap((node) => {
        const reason = excessOf(node);
        return reason === null ? [] : [`node ${node} sends ${reason}`];
      });
      return all.length === 0 ? null : all.join('; ');
    },
  };
}

const longestHead = 2_048;

/** The names of processes that came from each node within the last minute. */
function createProcessNames(clock: Clock) {
  const nodes = new Map<string, Map<string, number>>();
  return {
    /** False for one name too many. */
    take(node: string, process: string): boolean {
      const known = nodes.get(node) ?? new Map<string, number>();
      nodes.set(node, known);
      const now = clock.elapsed();
      if (!known.has(process) && known.size >= mostNames) {
        for (const [name, at] of known) if (now - at >= shownMs) known.delete(name);
        if (known.size >= mostNames) return false;
      }
      known.set(process, now);
      return true;
    },
  };
}

const processKey = '"process":"';
const longestName = 64;

// In a text quotes are escaped: what is found is a key, though not always that of the message itself.
function processIn(data: Uint8Array): string | null {
  const head = Buffer.from(data.buffer, data.byteOffset, Math.min(data.byteLength, longestHead));
  const at = head.indexOf(processKey);
  if (at < 0) return null;
  const from = at + processKey.length;
  const end = head.indexOf('"', from);
  return end < 0 || end - from > longestName ? null : head.toString('latin1', from, end);
}

/** Asks for a result or a batch again in some seconds; nothing of it is parsed but its id. Null if it has none. */
function postponement(data: Uint8Array): string | null {
  const head = Buffer.from(data.buffer, data.byteOffset, Math.min(data.byteLength, longestHead)).toString('latin1');
  const ticket = /"ticket":"([\w.~-]{1,1000})"/.exec(head)?.[1];
  return ticket === undefined ? null : JSON.stringify({ ticket, state: 'later', reason: null } satisfies ResultReceipt);
}
