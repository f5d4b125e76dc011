import type { Msg } from '@nats-io/transport-node';
import type { Log } from '#kernel/log.ts';
import {
  agree,
  messageLimit,
  nodeOfSubject,
  protocolRange,
  readMessage,
  readOutcome,
  type Receipt,
  Result,
} from '#protocol/nodes.ts';
import type { Outcome } from './dispatch.ts';
import type { OpenRuns } from './open-runs.ts';
import type { Tickets } from './ticket.ts';

/** A result of a stored kind that came when its run was over. */
export interface LateResult {
  readonly node: string;
  /** The name of the run. */
  readonly run: string;
  readonly outcome: Outcome;
}

export interface ResultsOptions {
  readonly isEnrolled: (node: string) => boolean;
  readonly tickets: Tickets;
  readonly openRuns: OpenRuns;
  readonly log: Log;
  /** Ends the run that waits for the result; false where none does. */
  readonly settle: (ticket: string, outcome: Outcome) => boolean;
  readonly onLate: (late: LateResult) => Promise<void>;
}

/**
 * Takes results in:
 *
 * 1. what is too large, cannot be read, or is no answer to a command of ours to this very node is refused, so that the node
 *    forgets it;
 * 2. a result that is waited for ends its wait, and has its receipt once its run is stored;
 * 3. any other is late, or a repeat: it has its receipt once it is stored as such.
 */
export function createResults({ isEnrolled, tickets, openRuns, log, settle, onLate }: ResultsOptions) {
  const receive = (message: Msg, ticket: string, state: Receipt['state'], reason: string | null) =>
    message.respond(JSON.stringify({ ticket, state, reason } satisfies Receipt));

  async function keepLate(message: Msg, ticket: string, late: LateResult): Promise<void> {
    try {
      await onLate(late);
      receive(message, ticket, 'stored', null);
    } catch (error) {
      log.error(
        { err: error, node: late.node, run: late.run },
        'a late result could not be stored; the node will repeat it',
      );
    }
  }

  return {
    take(message: Msg): void {
      const node = nodeOfSubject(message.subject);
      const text = message.data.length > messageLimit ? null : message.string();
      const result = text === null ? null : readMessage(Result, text);
      const refuse = (reason: string) => {
        log.warn({ node, reason }, 'result refused');
        receive(message, result?.ticket ?? '?', 'refused', reason);
      };
      if (!isEnrolled(node)) return refuse('this node is not enrolled');
      if (text === null) return refuse(`it is larger than ${messageLimit} bytes`);
      if (result === null) return refuse('it cannot be read');
      const agreed = agree(protocolRange, result.protocol);
      // The hub may be put back to its newer version: the node keeps the result until then.
      if (typeof agreed === 'string') return log.warn({ node, reason: agreed }, 'result left with the node');
      const asked = tickets.read(result.ticket);
      if (asked === null) return refuse('it answers no command of this hub');
      if (asked.node !== node) return refuse('it answers a command to another node');
      const outcome = readOutcome(asked.type, result.outcome);
      if (outcome === null) return refuse(`it is no outcome of a ${asked.type} check`);

      const { run } = asked;
      const awaited = settle(result.ticket, outcome);
      if (run === null) return (receive(message, result.ticket, 'stored', null), undefined);
      openRuns.afterStored(run, result.ticket, () => {
        if (awaited) receive(message, result.ticket, 'stored', null);
        else void keepLate(message, result.ticket, { node, run, outcome });
      });
    },
  };
}
