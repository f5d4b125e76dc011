import type { NatsConnection } from '@nats-io/transport-node';
import { messageOf } from '#kernel/errors.ts';
import { readJson } from '#kernel/json.ts';
import {
  type CommandMessage,
  CommandReply,
  encodeSpec,
  messageLimit,
  nodeFault,
  protocolRange,
  subjectsOf,
} from '#protocol/nodes.ts';
import type { RunListener } from '#protocol/run-listener.ts';
import { nodeGoneOutcome, type NodeCommand, type Transport } from '#service/ports.ts';
import type { CommandIds, IssuedCommand } from './command-ids.ts';
import { isAbsence, isTimeout } from './unanswered.ts';
import { createWindows, type WindowSlot, type WindowProcess } from './windows.ts';

export type RunOutcome = Awaited<ReturnType<Transport['run']>>;

export interface DispatchOptions {
  readonly commandIds: CommandIds;
  /** What commands name as the hub that takes their results; absent on the hub that leads. */
  readonly hub?: string;
  readonly answerMs: number;
  /** The processes of a node that can be sent commands. */
  readonly recipients: (node: string) => readonly WindowProcess[];
  /** Called when a process turned out not to be there. */
  readonly lose: (node: string, process: string, reason: string) => void;
  /** Called when a process takes no command in time; false if it was heard meanwhile, and is slow and nothing worse. */
  readonly mute: (node: string, process: string, sentAt: number, reason: string) => boolean;
  /** Called when a process has answered. */
  readonly heard: (node: string, process: string) => void;
  readonly elapsed: () => number;
}

/** The commands whose outcomes are being waited for. */
export interface CommandDispatch {
  run(
    connection: NatsConnection,
    node: string,
    command: NodeCommand,
    signal: AbortSignal,
    listener?: RunListener,
  ): Promise<RunOutcome>;
  /** The command of this id, if its outcome is waited for. */
  awaited(id: string): Pick<IssuedCommand, 'node' | 'type' | 'run'> | null;
  /** Ends a command with its outcome; false if it was cancelled. */
  complete(id: string, outcome: RunOutcome, startedAt?: number | null): boolean;
  /** Passes on what a node has measured so far for a command whose outcome is waited for. */
  interim(id: string, detail: unknown): void;
  /** A process of a node is gone, or (null) all of them, and with it what it had taken on. */
  lost(node: string, process: string | null, reason: string): void;
  /** Commands to this node that have no outcome yet. */
  pending(node: string): number;
  close(): void;
}

interface PendingCommand extends Pick<IssuedCommand, 'node' | 'type' | 'run'> {
  readonly origin: NonNullable<NodeCommand['origin']>;
  /** Where the command was sent. */
  place: WindowSlot | null;
  readonly listener: RunListener;
  resolve(outcome: RunOutcome, startedAt: number | null): void;
}

// A message can be lost: it gets a second chance.
const attempts = 2;
const heldUpMs = 100;
const mostStalls = 3;

/**
 * Sends commands:
 *
 * 1. each goes to the process of its node with the least to do, as soon as not too many are on the way there; beyond the
 *    capacity of all of them the node is busy;
 * 2. a process that is not connected is lost, with all that it had taken on, and the next one is tried;
 * 3. one that does not take the command in time, though it was heard meanwhile, is slow: the command stays with it;
 * 4. one that was not heard either is sent nothing more until it is heard again; what it has taken on stays with it.
 */
export function createDispatch(options: DispatchOptions): CommandDispatch {
  const { commandIds, elapsed } = options;
  const waiting = new Map<string, PendingCommand>();
  const counts = new Map<string, number>();
  const windows = createWindows();

  const take = (id: string): PendingCommand | null => {
    const one = waiting.get(id) ?? null;
    if (one === null) return null;
    waiting.delete(id);
    one.place?.free();
    counts.set(one.node, (counts.get(one.node) ?? 1) - 1);
    return one;
  };

  const complete = (id: string, outcome: RunOutcome, startedAt: number | null = null): boolean => {
    const one = take(id);
    one?.resolve(outcome, startedAt);
    return one !== null;
  };

  const endAll = (outcome: RunOutcome, which: (one: PendingCommand) => boolean) =>
    waiting.forEach((one, id) => which(one) && complete(id, outcome));

  async function send(connection: NatsConnection, id: string, payload: string): Promise<void> {
    for (let reason = 'all its processes are gone'; ;) {
      const one = waiting.get(id);
      if (one === undefined) return;
      const recipients = options.recipients(one.node);
      if (recipients.length === 0) return void complete(id, nodeGoneOutcome(`the node was lost: ${reason}`));
      const place = windows.take(recipients, one.origin);
      if (typeof place === 'string') return void complete(id, nodeFault('busy', place));
      one.place = place;
      await place.sendable;
      if (waiting.get(id) !== one) return;
      if (!isRecipient(one.node, place.process)) {
        release(one, place);
        continue;
      }
      const sentAt = elapsed();
      const answer = await ask(connection, subjectsOf(one.node).command(place.process), payload, options);
      if (answer.kind === 'reply') return takeReply(id, place, answer.reply);
      ({ reason } = answer);
      if (answer.kind === 'late' && !options.mute(one.node, place.process, sentAt, reason)) return;
      release(one, place);
      if (answer.kind === 'absent') options.lose(one.node, place.process, reason);
    }
  }

  const isRecipient = (node: string, process: string) =>
    options.recipients(node).some((recipient) => recipient.process === process);

  function takeReply(id: string, place: WindowSlot, reply: CommandReply | null): void {
    place.accept();
    const node = waiting.get(id)?.node;
    if (node !== undefined) options.heard(node, place.process);
    if (reply === null) complete(id, nodeFault('internal', 'the node gave an answer that cannot be read'));
    else if (reply.state !== 'accepted') complete(id, nodeFault(reply.state, reply.reason ?? reply.state));
  }

  return {
    complete,
    awaited: (id) => waiting.get(id) ?? null,
    interim: (id, detail) => waiting.get(id)?.listener.onInterim?.(detail),
    pending: (node) => counts.get(node) ?? 0,
    async run(connection, node, { run = null, ...command }, signal, listener = {}) {
      const { spec, origin = 'monitor' } = command;
      const id = commandIds.issue({ node, type: spec.type, run });
      const payload = payloadOf(id, command, options.hub);
      if (Buffer.byteLength(payload) > messageLimit) {
        return nodeFault('unsupported', `the check takes more than ${messageLimit} bytes to describe`);
      }
      return new Promise<RunOutcome>((resolve, reject) => {
        const onAbort = () => {
          take(id);
          if (!connection.isClosed()) connection.publish(subjectsOf(node).abort, JSON.stringify({ ticket: id }));
          reject(signal.reason instanceof Error ? signal.reason : new Error('aborted', { cause: signal.reason }));
        };
        signal.addEventListener('abort', onAbort, { once: true });
        counts.set(node, (counts.get(node) ?? 0) + 1);
        waiting.set(id, {
          node,
          type: spec.type,
          run,
          origin,
          place: null,
          listener,
          resolve(outcome, startedAt) {
            if (startedAt !== null) listener.onStarted?.(startedAt);
            signal.removeEventListener('abort', onAbort);
            resolve(outcome);
          },
        });
        send(connection, id, payload).catch(reject);
      });
    },
    lost(node, process, reason) {
      endAll(
        nodeGoneOutcome(reason),
        (one) => one.node === node && (process === null || one.place?.process === process),
      );
    },
    close: () => endAll(nodeGoneOutcome('the hub is closing'), () => true),
  };
}

function payloadOf(
  id: string,
  { spec, policy, deadlineMs, origin = 'monitor', wantsInterim }: Omit<NodeCommand, 'run'>,
  hub: string | undefined,
): string {
  const command = {
    protocol: [...protocolRange],
    ticket: id,
    spec: encodeSpec(spec),
    origin,
    policy,
    deadlineMs,
    interim: wantsInterim,
    hub,
  };
  return JSON.stringify(command satisfies Record<keyof CommandMessage, unknown>);
}

// The command is not to end with the process: it may be tried on another one.
function release(one: PendingCommand, place: WindowSlot): void {
  one.place = null;
  place.free();
}

type CommandAnswer =
  | { readonly kind: 'reply'; readonly reply: CommandReply | null }
  | { readonly kind: 'absent' | 'late'; readonly reason: string };

async function ask(
  connection: NatsConnection,
  subject: string,
  payload: string,
  { answerMs, elapsed }: Pick<DispatchOptions, 'answerMs' | 'elapsed'>,
): Promise<CommandAnswer> {
  let stalls = 0;
  for (let attempt = 1; ; attempt += 1) {
    const sentAt = elapsed();
    try {
      const message = await connection.request(subject, payload, { timeout: answerMs });
      return { kind: 'reply', reply: readJson(CommandReply, message.string()) };
    } catch (error) {
      if (isAbsence(error)) return { kind: 'absent', reason: 'it is not connected' };
      if (!isTimeout(error)) return { kind: 'absent', reason: `it cannot be reached: ${messageOf(error)}` };
      // If we were held up ourselves, the answer may have been here.
      if (elapsed() - sentAt > answerMs + heldUpMs && stalls < mostStalls) stalls += 1;
      else if (attempt - stalls === attempts)
        return { kind: 'late', reason: `it took no command within ${(answerMs * attempts) / 1_000} s` };
    }
  }
}
