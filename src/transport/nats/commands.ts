import { type Clock, deadline } from '#kernel/clock.ts';
import { messageOf } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import {
  type CommandMessage,
  type CommandReply,
  decodeSpec,
  type InterimResult,
  messageLimit,
  nodeFault,
  protocolRange,
  type Result,
} from '#protocol/nodes.ts';
import type { Transport } from '#service/ports.ts';
import type { ReceiptDelivery } from './delivery.ts';
import type { NamedHubResults } from './named-hub.ts';

export interface CommandsOptions {
  readonly name: string;
  readonly process: string;
  /** What runs the checks: the node of this name in this process. */
  readonly local: Transport;
  /** How far the clock of this machine is ahead of the hub's; null if that is not known. */
  readonly clockOffsetMs: () => number | null;
  readonly delivery: ReceiptDelivery;
  readonly namedHub: Pick<NamedHubResults, 'send' | 'sendInterim'>;
  /** How many commands may be under way. */
  readonly limit: number;
  readonly clock: Clock;
  readonly log: Log;
}

/** The commands that a process of a node has taken. */
export interface Commands {
  /** Takes a command on, or says why not. One that came before is not done twice: its result is sent again. */
  take(command: CommandMessage): CommandReply;
  abort(id: string): void;
  readonly running: number;
  /** Resolves once nothing runs any more; what does after `graceMs` is ended without a result. */
  drain(graceMs: number): Promise<void>;
}

interface EndedCommand {
  readonly id: string;
  /** The hub that the command named. */
  readonly hub: string | undefined;
  readonly outcome: Result['outcome'];
  readonly startedAt?: number | null;
}

// As long as a hub waits besides the check itself: after that the result is late, and still worth having.
const lateMs = 10_000;
const remembered = 10_000;

export function createCommands(options: CommandsOptions): Commands {
  const { name, process, local, delivery, limit, clock, log } = options;
  const running = new Map<string, AbortController>();
  const seen = new Set<string>();
  let idle: (() => void) | null = null;

  const reply = (state: CommandReply['state'], reason: string | null = null): CommandReply => {
    return { protocol: [...protocolRange], process, state, reason };
  };

  async function run(command: CommandMessage, spec: Exclude<ReturnType<typeof decodeSpec>, string>): Promise<void> {
    const { ticket: id, policy, deadlineMs, origin, interim: wantsInterim, hub } = command;
    const controller = new AbortController();
    let startedAt: number | null = null;
    const onStarted = (at: number) => {
      const offsetMs = options.clockOffsetMs();
      startedAt = offsetMs === null ? null : at - offsetMs;
    };
    running.set(id, controller);
    using end = deadline(clock, deadlineMs + lateMs, controller.signal);
    try {
      const outcome = await local.run(name, { spec, policy, deadlineMs, origin, wantsInterim }, end.signal, {
        onStarted,
        ...(wantsInterim === true && { onInterim: (detail: unknown) => sendInterim(id, detail, hub) }),
      });
      sendResult({ id, hub, outcome, startedAt });
    } catch (error) {
      const reason = `the check did not end within ${deadlineMs + lateMs} ms`;
      if (end.expired) sendResult({ id, hub, outcome: nodeFault('no_answer', reason) });
      else if (!controller.signal.aborted) sendResult({ id, hub, outcome: nodeFault('internal', messageOf(error)) });
    } finally {
      running.delete(id);
      if (running.size === 0) idle?.();
    }
  }

  function sendInterim(id: string, detail: unknown, hub: string | undefined): void {
    const payload = JSON.stringify({ kind: 'interim', ticket: id, process, detail } satisfies InterimResult);
    if (Buffer.byteLength(payload) <= messageLimit) options.namedHub.sendInterim(hub, payload);
  }

  function sendResult({ id, hub, outcome, startedAt = null }: EndedCommand): void {
    const result: Result = { protocol: [...protocolRange], ticket: id, process, outcome, startedAt };
    const whole = JSON.stringify(result);
    const tooLarge = nodeFault('internal', `the outcome takes more than ${messageLimit} bytes`);
    const isTooLarge = Buffer.byteLength(whole) > messageLimit;
    const payload = isTooLarge ? JSON.stringify({ ...result, outcome: tooLarge } satisfies Result) : whole;
    if (hub === undefined) delivery.add(id, payload);
    else options.namedHub.send(hub, payload);
  }

  function remember(id: string): void {
    seen.add(id);
    for (const oldest of seen) {
      if (seen.size <= remembered) break;
      seen.delete(oldest);
    }
  }

  return {
    take(command) {
      const { ticket: id } = command;
      if (seen.has(id)) {
        delivery.repeat(id);
        return reply('accepted');
      }
      const spec = decodeSpec(command.spec);
      if (typeof spec === 'string') return reply('unsupported', spec.slice(0, 500));
      const capability = local.nodes()[0]?.capabilities[spec.type];
      if (capability?.able === false) return reply('unsupported', capability.reason.slice(0, 500));
      if (running.size >= limit) return reply('busy', `busy: ${running.size} checks are under way`);
      remember(id);
      void run(command, spec).catch((error: unknown) => log.error({ err: error }, 'cannot pass on a result'));
      return reply('accepted');
    },
    abort(id) {
      running.get(id)?.abort(new Error('this check was cancelled'));
    },
    get running() {
      return running.size;
    },
    async drain(graceMs) {
      if (running.size === 0) return;
      await new Promise<void>((resolve) => {
        const limit = clock.after(graceMs, () => {
          for (const controller of running.values()) controller.abort(new Error('the node is being stopped'));
        });
        idle = () => {
          limit[Symbol.dispose]();
          resolve();
        };
      });
    },
  };
}
