import type { Msg, NatsConnection } from '@nats-io/transport-node';
import type { Clock } from '#kernel/clock.ts';
import type { Log } from '#kernel/log.ts';
import type { Random } from '#kernel/random.ts';
import { readJson } from '#kernel/json.ts';
import { CommandReply, type Report, subjectsOf } from '#protocol/nodes.ts';
import type { Assignment } from '#protocol/watching.ts';
import type { NodeListener } from '#service/ports.ts';
import { createAssigning } from './assigning.ts';
import type { ConnectionTimes } from './connection.ts';
import { createBatches } from './batches.ts';
import { isAbsence } from './unanswered.ts';

export interface AssignmentHubOptions {
  readonly connection: () => NatsConnection | null;
  readonly times: Pick<ConnectionTimes, 'answerMs'>;
  readonly isEnrolled: (node: string) => boolean;
  readonly heard: (node: string, process: string) => void;
  readonly refused: (node: string, results: number) => void;
  readonly lose: (node: string, process: string, reason: string) => void;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** The hub's side of what nodes watch by themselves. */
export interface AssignmentHub extends Disposable {
  assign(node: string, assignment: Assignment): void;
  listen(listener: NodeListener): void;
  heardReport(node: string, report: Report): void;
  lost(node: string, process: string | null): void;
  /** Takes a batch in; false if the message is none. */
  take(node: string, message: Msg): boolean;
}

// Every version answers it, and nothing comes of it.
const emptyQuestion = '{}';
const lookEveryMs = 1_000;

export function createHubWatching(options: AssignmentHubOptions): AssignmentHub {
  const { connection, times, random, clock } = options;
  let current: NodeListener = { watching: () => {}, seen: () => {} };
  const listener = () => current;
  const assigning = createAssigning({
    ...options,
    epoch: random.id(12),
    answerMs: times.answerMs,
    async send(node, process, message, answerMs) {
      const subject = subjectsOf(node).command(process);
      const answer = await connection()?.request(subject, message, { timeout: answerMs });
      return answer !== undefined && readJson(CommandReply, answer.string())?.state === 'accepted';
    },
    async isThere(node, process) {
      try {
        await connection()?.request(subjectsOf(node).command(process), emptyQuestion, { timeout: times.answerMs });
        return true;
      } catch (error) {
        return !isAbsence(error);
      }
    },
    lose: (node, process) => options.lose(node, process, 'it is not connected'),
    listener,
  });
  const batches = createBatches({
    ...options,
    listener,
    answer(subject, payload) {
      const up = connection();
      if (up !== null && !up.isClosed()) up.publish(subject, payload);
    },
  });
  // A process that was killed says nothing: another one of its node must not wait until its reports are missed.
  let looking = clock.after(lookEveryMs, look);
  function look(): void {
    assigning.lookAfter();
    looking = clock.after(lookEveryMs, look);
  }

  return {
    assign: (node, assignment) => assigning.assign(node, assignment),
    heardReport: (node, report) => assigning.heard(node, report),
    lost: (node, process) => assigning.lost(node, process),
    take: (node, message) => batches.take(node, message),
    listen(next) {
      current = next;
    },
    [Symbol.dispose]: () => looking[Symbol.dispose](),
  };
}
