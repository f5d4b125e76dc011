import { errors, type NatsConnection } from '@nats-io/transport-node';
import type { Clock } from '#kernel/clock.ts';
import { messageOf } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
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
  readonly clock: Clock;
  readonly log: Log;
  /** Called when a node turned out not to be there. */
  readonly lose: (node: string, reason: string) => void;
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
  /** The process that took the command, once that is known. */
  process: string | null;
  resolve(outcome: Outcome): void;
}

// A node that does not even take a command in this time is of no use; it gets a second chance for a lost message.
const answerMs = 1_500;
const attempts = 2;

export function createDispatch({ tickets, log, lose }: DispatchOptions): Dispatch {
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

  async function hand(connection: NatsConnection, node: string, ticket: string, payload: string): Promise<void> {
    for (let attempt = 1; waiting.has(ticket); attempt += 1) {
      try {
        const message = await connection.request(subjectsOf(node).command, payload, { timeout: answerMs });
        return take(ticket, readMessage(Answer, message.string()));
      } catch (error) {
        if (!waiting.has(ticket)) return;
        if (isTimeout(error) && attempt < attempts) continue;
        return fail(node, error);
      }
    }
  }

  function take(ticket: string, answer: Answer | null): void {
    if (answer === null) settle(ticket, nodeFault('internal', 'the node gave an answer that cannot be read'));
    else if (answer.state !== 'accepted') settle(ticket, nodeFault(answer.state, answer.reason ?? answer.state));
    const found = waiting.get(ticket);
    if (found !== undefined && answer !== null) found.process = answer.process;
  }

  // Settles what was sent with all else that waits for the node.
  function fail(node: string, error: unknown): void {
    if (isAbsence(error)) return lose(node, 'it is not connected');
    if (isTimeout(error)) return lose(node, `it took no command within ${(answerMs * attempts) / 1_000} s`);
    log.warn({ err: error, node }, 'a command could not be sent');
    endAll(gone(`the node cannot be reached: ${messageOf(error)}`), (one) => one.node === node && one.process === null);
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
