import type { Log } from '#kernel/log.ts';
import type { Report } from '#protocol/nodes.ts';
import { type Assignment, watchingSince } from '#protocol/watching.ts';
import type { NodeListener } from '#service/ports.ts';
import { partMessage, partsOf, type TargetTexts } from './assignment-parts.ts';
import { isTimeout } from './unanswered.ts';

export interface AssignmentSenderOptions {
  /** Names this run of the hub: assignments of another one are numbered by themselves. */
  readonly epoch: string;
  /** How long a process has for its first answer, in milliseconds. */
  readonly answerMs: number;
  /** Sends a message to a process, which has so many milliseconds to answer; false if it did not take it. */
  readonly send: (node: string, process: string, message: string, answerMs: number) => Promise<boolean>;
  /** False if the NATS server knows that a process has no subscription. */
  readonly isThere: (node: string, process: string) => Promise<boolean>;
  /** Called with a process that is not there. */
  readonly lose: (node: string, process: string) => void;
  readonly listener: () => NodeListener;
  readonly log: Log;
}

/** Keeps the processes of nodes informed of what they are to watch. */
export interface AssignmentSender {
  assign(node: string, assignment: Assignment): void;
  /** What a process said of itself: it is assigned anew if it does not watch what it should. */
  heard(node: string, report: Report): void;
  /** A process is gone, or (null) all of the node. */
  lost(node: string, process: string | null): void;
  /** Asks, for each node of several processes, whether the one that watches is still connected. To be called every second. */
  lookAfter(): void;
}

interface AssignedNode {
  wanted: Assignment;
  /** What was wanted before, the newest last. */
  bases: readonly Assignment[];
  /** Processes that watch by themselves, in the order in which they came; the first one does, for its node. */
  readonly processes: Map<string, Report['watching']>;
  readonly sending: Set<string>;
  /** Whether those who were there before a new one are being asked for. */
  isAsking: boolean;
}

const nothing: Assignment = { number: 0, targets: [] };
// A process is seldom behind by more: it gets each as soon as it took the one before.
const keptBases = 4;
// A process that is slow, or a hub that reads its answers late, is given twice as long each time: what is sent again takes time too.
const longestAnswerMs = 60_000;

export function createAssigning({
  epoch,
  answerMs,
  send,
  isThere,
  lose,
  listener,
  log,
}: AssignmentSenderOptions): AssignmentSender {
  const nodes = new Map<string, AssignedNode>();
  // Kept only while something is sent.
  let texts: TargetTexts = new WeakMap();
  let sending = 0;

  function nodeOf(name: string): AssignedNode {
    const known = nodes.get(name) ?? {
      wanted: nothing,
      bases: [],
      processes: new Map(),
      sending: new Set(),
      isAsking: false,
    };
    nodes.set(name, known);
    return known;
  }

  // Of several processes one watches, and the others watch nothing.
  function look(name: string, node: AssignedNode): void {
    if (node.isAsking) return;
    const [holder] = node.processes.keys();
    for (const [process, watching] of node.processes) {
      const { number, targets } = process === holder ? node.wanted : { number: node.wanted.number, targets: [] };
      const isRight = watching?.epoch === epoch && watching.number === number && watching.targets === targets.length;
      if (isRight && process === holder) listener().watching(name, number, watching.since);
      else if (!isRight && number > 0) void assign(name, node, process, { number, targets });
    }
  }

  async function assign(name: string, node: AssignedNode, process: string, assignment: Assignment): Promise<void> {
    if (node.sending.has(process)) return;
    node.sending.add(process);
    sending += 1;
    try {
      const { number } = assignment;
      const parts = partsOf(assignment, baseOf(epoch, node, process), texts);
      await sendPatiently(parts.length, answerMs, async (index, patienceMs) => {
        if (node.wanted.number !== number || !node.processes.has(process)) return false;
        return send(name, process, partMessage(parts, index, { epoch, number }), patienceMs);
      });
    } catch (error) {
      log.warn({ err: error, node: name, process }, 'cannot send a node its assignment; retrying');
    } finally {
      node.sending.delete(process);
      sending -= 1;
      if (sending === 0) texts = new WeakMap();
    }
  }

  // One that was killed and started again must not wait until its former self is given up.
  async function askFor(name: string, node: AssignedNode, others: readonly string[]): Promise<void> {
    node.isAsking = true;
    try {
      const there = await Promise.all(others.map(async (process) => isThere(name, process)));
      for (const [index, process] of others.entries()) if (there[index] === false) lose(name, process);
    } finally {
      node.isAsking = false;
      look(name, node);
    }
  }

  return {
    lookAfter() {
      for (const [name, node] of nodes) {
        const [holder] = node.processes.keys();
        if (holder !== undefined && node.processes.size > 1 && !node.isAsking) void askFor(name, node, [holder]);
      }
    },
    assign(name, assignment) {
      const node = nodeOf(name);
      node.bases = [...node.bases, node.wanted].slice(-keptBases);
      node.wanted = assignment;
      look(name, node);
    },
    heard(name, { process, phase, watching, protocol }) {
      const node = nodeOf(name);
      if (protocol[1] < watchingSince || phase === 'joining') return;
      const others = [...node.processes.keys()];
      const holder = others[0];
      const isNew = phase === 'serving' && !node.processes.has(process);
      if (phase === 'leaving') node.processes.delete(process);
      else node.processes.set(process, watching ?? null);
      if (process === holder && phase === 'leaving') listener().watching(name, 0, Number.POSITIVE_INFINITY);
      if (isNew && others.length > 0 && !node.isAsking) void askFor(name, node, others);
      else look(name, node);
    },
    lost(name, process) {
      const node = nodeOf(name);
      const [holder] = node.processes.keys();
      if (process === null) node.processes.clear();
      else node.processes.delete(process);
      if (holder === undefined || node.processes.has(holder)) return;
      listener().watching(name, 0, Number.POSITIVE_INFINITY);
      look(name, node);
    },
  };
}

// The assignment that a process watches, if it takes what is other in the next one.
function baseOf(epoch: string, { bases, processes }: AssignedNode, process: string): Assignment | null {
  const watching = processes.get(process);
  if (watching?.epoch !== epoch || watching.takesChanges !== true) return null;
  const base = bases.find(({ number }) => number === watching.number);
  return base?.targets.length === watching.targets ? base : null;
}

/** Sends one part after the other until one is not taken; again, with more time, what is not answered in time. */
async function sendPatiently(
  parts: number,
  answerMs: number,
  sendOne: (index: number, answerMs: number) => Promise<boolean>,
): Promise<void> {
  let patienceMs = answerMs;
  for (let index = 0; index < parts;) {
    try {
      if (!(await sendOne(index, patienceMs))) return;
      index += 1;
    } catch (error) {
      if (!isTimeout(error) || 2 * patienceMs > longestAnswerMs) throw error;
      patienceMs *= 2;
    }
  }
}
