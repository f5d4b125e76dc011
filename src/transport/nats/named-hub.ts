import type { NatsConnection } from '@nats-io/transport-node';
import { type Clock, sleepUnlessAborted } from '#kernel/clock.ts';
import { messageOf } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import { subjectsOf } from '#protocol/nodes.ts';

export interface NamedHubOptions {
  /** The name of the node. */
  readonly name: string;
  readonly connection: () => NatsConnection | null;
  readonly answerMs: number;
  readonly clock: Clock;
  readonly log: Log;
}

/** Results of commands that named their hub. */
export interface NamedHubResults {
  /** Sends until the hub has it, as long as it waits; what it does not take by then is dropped. */
  send(hub: string, payload: string): void;
  /** Sends an interim result if there is a connection, without a hub to the one that leads. */
  sendInterim(hub: string | undefined, payload: string): void;
  close(): void;
}

// As long as a hub waits besides the check itself.
const waitedMs = 10_000;
const pauseMs = 500;

export function createNamedHubResults({ name, connection, answerMs, clock, log }: NamedHubOptions): NamedHubResults {
  const closing = new AbortController();
  const subjects = subjectsOf(name);

  async function deliver(hub: string, payload: string): Promise<void> {
    const until = clock.elapsed() + waitedMs;
    for (let reason = 'there is no connection to NATS'; ;) {
      try {
        const up = connection();
        if (up !== null) {
          await up.request(subjects.resultFor(hub), payload, { timeout: answerMs });
          return;
        }
      } catch (error) {
        reason = messageOf(error);
      }
      if (closing.signal.aborted || clock.elapsed() >= until)
        return log.info({ hub, reason }, 'dropped the result of a check: its hub does not take it');
      await sleepUnlessAborted(clock, pauseMs, closing.signal);
    }
  }

  return {
    send(hub, payload) {
      deliver(hub, payload).catch((error: unknown) => log.error({ err: error, hub }, 'cannot send a result'));
    },
    sendInterim: (hub, payload) =>
      connection()?.publish(hub === undefined ? subjects.result : subjects.resultFor(hub), payload),
    close: () => closing.abort(new Error('the node is stopping')),
  };
}
