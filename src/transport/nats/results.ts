import type { Msg } from '@nats-io/transport-node';
import type { Clock } from '#kernel/clock.ts';
import type { Log } from '#kernel/log.ts';
import { readJson } from '#kernel/json.ts';
import {
  agree,
  interimBeginning,
  InterimResult,
  messageLimit,
  protocolRange,
  readInterim,
  readOutcome,
  type ResultReceipt,
  Result,
} from '#protocol/nodes.ts';
import type { CommandIds } from './command-ids.ts';
import type { CommandDispatch, RunOutcome } from './dispatch.ts';
import type { OpenRuns } from './open-runs.ts';
import { createRareLog } from './rare-log.ts';

type ResultMessage = Pick<Msg, 'data' | 'string' | 'respond'>;

/** A result of a stored kind that came when its run was over. */
export interface LateResult {
  readonly node: string;
  /** The name of the run. */
  readonly run: string;
  readonly outcome: RunOutcome;
}

export interface ResultsOptions {
  readonly isEnrolled: (node: string) => boolean;
  readonly commandIds: CommandIds;
  readonly openRuns: OpenRuns;
  readonly clock: Clock;
  readonly log: Log;
  readonly dispatch: Pick<CommandDispatch, 'awaited' | 'complete' | 'interim'>;
  /** Called with each process that hands a result in. */
  readonly heard: (node: string, process: string) => void;
  readonly onLate: (late: LateResult) => Promise<void>;
}

/**
 * Takes results in:
 *
 * 1. what is too large, cannot be read, or is no answer to a command of ours to this very node is refused, so that the node
 *    forgets it;
 * 2. a result that is waited for ends its wait, and has its receipt once its run is stored;
 * 3. any other is late, or a repeat: it has its receipt once it is stored as such;
 * 4. an interim result is passed on if its command is waited for; it has no receipt.
 */
export function createResults(options: ResultsOptions) {
  const { isEnrolled, commandIds, openRuns, dispatch, heard, clock, log, onLate } = options;
  const logDropped = createRareLog(clock, (node, count, type) =>
    log.info({ node, type, count }, 'dropped late results of checks that nothing waits for any more'),
  );
  const confirm = (
    message: ResultMessage,
    id: string,
    state: ResultReceipt['state'] = 'stored',
    reason: string | null = null,
  ) => void message.respond(JSON.stringify({ ticket: id, state, reason } satisfies ResultReceipt));

  async function keepLate(message: ResultMessage, id: string, late: LateResult): Promise<void> {
    try {
      await onLate(late);
      confirm(message, id);
    } catch (error) {
      log.error({ err: error, node: late.node, run: late.run }, 'cannot store a late result; the node sends it again');
    }
  }

  function takeInterim(node: string, text: string): void {
    const interim = readJson(InterimResult, text);
    const command = interim === null ? null : dispatch.awaited(interim.ticket);
    if (interim === null || command === null || command.node !== node) return;
    const detail = readInterim(command.type, interim.detail);
    if (detail !== null) dispatch.interim(interim.ticket, detail);
  }

  return {
    take(node: string, message: ResultMessage): void {
      const text = message.data.length > messageLimit ? null : message.string();
      if (text?.startsWith(interimBeginning) === true) {
        if (isEnrolled(node)) takeInterim(node, text);
        return;
      }
      const result = text === null ? null : readJson(Result, text);
      const refuse = (reason: string) => {
        log.warn({ node, reason }, 'result refused');
        confirm(message, result?.ticket ?? '?', 'refused', reason);
      };
      if (!isEnrolled(node)) return refuse('this node is not enrolled');
      if (text === null) return refuse(`it is larger than ${messageLimit} bytes`);
      if (result === null) return refuse('it cannot be read');
      const agreed = agree(protocolRange, result.protocol);
      // The hub may be put back to its newer version: the node keeps the result until then.
      if (typeof agreed === 'string') return log.warn({ node, reason: agreed }, 'result deferred; the node keeps it');
      const { ticket: id } = result;
      const command = dispatch.awaited(id) ?? commandIds.read(id);
      if (command === null) return refuse('it answers no command of this hub');
      if (command.node !== node) return refuse('it answers a command to another node');
      const outcome = readOutcome(command.type, result.outcome);
      if (outcome === null) return refuse(`it is no outcome of a ${command.type} check`);

      const { run } = command;
      heard(node, result.process);
      const isAwaited = dispatch.complete(id, outcome, result.startedAt ?? null);
      if (run === null) {
        if (!isAwaited) logDropped(node, 1, command.type);
        return confirm(message, id);
      }
      openRuns.afterStored(run, id, () => {
        if (isAwaited) confirm(message, id);
        else void keepLate(message, id, { node, run, outcome });
      });
    },
  };
}
