import { errors, type NatsConnection } from '@nats-io/transport-node';
import { messageOf } from '#kernel/errors.ts';
import {
  Answer,
  type Command,
  encodeSpec,
  messageLimit,
  nodeFault,
  protocolRange,
  readMessage,
  subjectsOf,
} from '#protocol/nodes.ts';
import { gone, type NodeCommand, type Transport } from '#service/ports.ts';
import type { Tickets } from './ticket.ts';

export type Outcome = Awaited<ReturnType<Transport['run']>>;

export interface DispatchOptions {
  readonly tickets: Tickets;
  readonly answerMs: number;
  /** The process of a node to send to, or null where there is none. */
  readonly next: (node: string) => string | null;
  /** Called when a process turned out not to be there. */
  readonly lose: (node: string, process: string, reason: string) => void;
}

/** The runs that are being waited for. */
export interface Dispatch {
  run(connection: NatsConnection, node: string, command: NodeCommand, signal: AbortSignal): Promise<Outcome>;
  /** Ends a run with its outcome; false where nobody waits for it. */
  settle(ticket: string, outcome: Outcome): boolean;
  nodeLost(node: string, reason: string): void;
  processLost(node: string, process: string, reason: string): void;
  close(): void;
}

interface Waiting {
  readonly node: string;
  /** The process that the command was sent to. */
  process: string | null;
  resolve(outcome: Outcome): void;
}

// A node that does not even take a command in time is of no use; it gets a second chance for a lost message.
const attempts = 2;

export function createDispatch({ tickets, answerMs, next, lose }: DispatchOptions): Dispatch {
  const waiting = new Map<string, Waiting>();

  const settle = (ticket: string, outcome: Outcome): boolean => {
    const found = waiting.get(ticket);
    waiting.delete(ticket);
    found?.resolve(outcome);
    return found !== undefined;
  };

  const endAll = (outcome: Outcome, which: (one: Waiting) => boolean) => {
    for (const [ticket, one] of waiting) if (which(one)) settle(ticket, outcome);
  };

  // Tries one process after the other: each that does not take the command is lost, and with it all that it had taken.
  async function hand(connection: NatsConnection, node: string, ticket: string, payload: string): Promise<void> {
    let reason = 'it has no process left';
    for (;;) {
      const one = waiting.get(ticket);
      if (one === undefined) return;
      const process = next(node);
      if (process === null) return void settle(ticket, gone(`the node was lost: ${reason}`));
      const answer = await ask(connection, subjectsOf(node).command(process), payload, one, process);
      if (typeof answer !== 'string') return take(ticket, answer);
      one.process = null;
      reason = answer;
      lose(node, process, reason);
    }
  }

  async function ask(
    connection: NatsConnection,
    subject: string,
    payload: string,
    one: Waiting,
    process: string,
  ): Promise<Answer | null | string> {
    one.process = process;
    for (let attempt = 1; ; attempt += 1) {
      try {
        const message = await connection.request(subject, payload, { timeout: answerMs });
        return readMessage(Answer, message.string());
      } catch (error) {
        if (isAbsence(error)) return 'it is not connected';
        if (!isTimeout(error)) return `it cannot be reached: ${messageOf(error)}`;
        if (attempt === attempts) return `it took no command within ${(answerMs * attempts) / 1_000} s`;
      }
    }
  }

  function take(ticket: string, answer: Answer | null): void {
    if (answer === null) settle(ticket, nodeFault('internal', 'the node gave an answer that cannot be read'));
    else if (answer.state !== 'accepted') settle(ticket, nodeFault(answer.state, answer.reason ?? answer.state));
  }

  return {
    settle,
    async run(connection, node, { spec, policy, deadlineMs, run }, signal) {
      const ticket = tickets.issue({ node, type: spec.type, run: run ?? null });
      const command: Command = { protocol: [...protocolRange], ticket, spec: encodeSpec(spec), policy, deadlineMs };
      const payload = JSON.stringify(command);
      if (Buffer.byteLength(payload) > messageLimit) {
        return nodeFault('unsupported', `the check takes more than ${messageLimit} bytes to describe`);
      }
      return new Promise<Outcome>((resolve, reject) => {
        const onAbort = () => {
          waiting.delete(ticket);
          if (!connection.isClosed()) connection.publish(subjectsOf(node).abort, JSON.stringify({ ticket }));
          reject(signal.reason instanceof Error ? signal.reason : new Error('aborted', { cause: signal.reason }));
        };
        signal.addEventListener('abort', onAbort, { once: true });
        waiting.set(ticket, {
          node,
          process: null,
          resolve(outcome) {
            signal.removeEventListener('abort', onAbort);
            resolve(outcome);
          },
        });
        hand(connection, node, ticket, payload).catch(reject);
      });
    },
    nodeLost: (node, reason) => endAll(gone(reason), (one) => one.node === node),
    processLost(node, process, reason) {
      endAll(gone(reason), (one) => one.node === node && one.process === process);
    },
    close: () => endAll(gone('the hub is closing'), () => true),
  };
}

function isTimeout(error: unknown): boolean {
  return error instanceof errors.TimeoutError || (error instanceof Error && error.cause instanceof errors.TimeoutError);
}

function isAbsence(error: unknown): boolean {
  if (error instanceof errors.NoRespondersError) return true;
  return error instanceof errors.RequestError && error.isNoResponders();
}
