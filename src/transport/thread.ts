import type { Worker } from 'node:worker_threads';
import { type Clock, endsWithin, orAbort } from '#kernel/clock.ts';
import { messageOf } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import type { StopGuard } from '#kernel/stop-watch.ts';
import { startThread, terminate } from '#kernel/threads.ts';
import type { RunListener } from '#protocol/run-listener.ts';
import { type AgentOptions, type NodeMessage, shareOfApi, type HubMessage } from '#node/ports.ts';
import {
  nodeGoneOutcome,
  type NodeCommand,
  type NodeListener,
  type NodeStatus,
  suspendedOutcome,
  type Transport,
} from '#service/ports.ts';
import { createThreadWatching } from './assigned.ts';
import { createGuardDuty } from './guard-duty.ts';
import { type Watchdog, startWatchdog } from './watchdog.ts';
import { createSuspects, type CrashSuspects } from './suspects.ts';
import { createCalls } from './thread-calls.ts';

type RunOutcome = Awaited<ReturnType<Transport['run']>>;
type ThreadNodeInfo = NodeStatus['info'];

export interface ThreadNode {
  readonly info: ThreadNodeInfo;
  readonly options: AgentOptions;
}

export interface ThreadTimes {
  /** How often it is looked whether a thread has said something. */
  readonly lookMs: number;
  /** After so many looks without a word a thread is silent; while it starts, after so many. */
  readonly looksUntilSilent: number;
  readonly looksUntilStarted: number;
}

// A thread compiles the whole program when it starts, which takes long on a busy machine.
const threadTimes: ThreadTimes = { lookMs: 3_000, looksUntilSilent: 5, looksUntilStarted: 100 };

export interface ThreadTransportOptions {
  readonly nodes: readonly ThreadNode[];
  /** The module that a node's thread runs. */
  readonly module: URL;
  readonly times?: ThreadTimes;
  /** What threads relieve as long as they go on; none by default. */
  readonly guard?: StopGuard | null | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

const firstRestartMs = 1_000;
const longestRestartMs = 30_000;
const closeMs = 3_000;

export interface ThreadTransport extends Transport {
  /** Resolves once each node has been ready or has failed. */
  readonly started: Promise<void>;
  /** Tells each thread how far the clock of this machine is ahead of the one that schedules go by. */
  retime(aheadMs: number): void;
}

/** Nodes in worker threads. A thread that dies or falls silent ends its checks as node faults and is started again. */
export function createThreadTransport(options: ThreadTransportOptions): ThreadTransport {
  const suspects = createSuspects(options.clock, options.log);
  let listener: NodeListener = { watching: () => {}, seen: () => {} };
  const shared: ThreadContext = {
    suspects,
    listener: () => listener,
    lookAtRefusals: () => all.forEach(({ watching }) => watching.lookAtRefusals()),
  };
  const threads = new Map(options.nodes.map((node) => [node.info.name, createNodeThread(node, options, shared)]));
  const all = [...threads.values()];
  return {
    started: Promise.all(all.map(async (thread) => thread.started)).then(() => {}),
    nodes: () => all.map((thread) => thread.status()),
    async run(name, command, signal, listener) {
      const thread = threads.get(name);
      return thread === undefined
        ? nodeGoneOutcome(`there is no node "${name}"`)
        : thread.run(command, signal, listener);
    },
    assign: (name, assignment) => threads.get(name)?.watching.assign(assignment),
    listen(next) {
      listener = next;
    },
    retime: (aheadMs) => all.forEach(({ watching }) => watching.retime(aheadMs)),
    close: async () => {
      await Promise.all(all.map(async (thread) => thread.close()));
    },
  };
}

type ReadyMessage = Extract<NodeMessage, { kind: 'ready' }>;
type ThreadHealthReport = Extract<NodeMessage, { kind: 'health' }>['health'];

/** What the threads of a transport have in common. */
interface ThreadContext {
  readonly suspects: CrashSuspects;
  readonly listener: () => NodeListener;
  /** A check was suspended, or need not be any more. */
  readonly lookAtRefusals: () => void;
}

function createNodeThread({ info, options }: ThreadNode, parts: ThreadTransportOptions, shared: ThreadContext) {
  const { suspects } = shared;
  const { module, clock, times = threadTimes, guard = null } = parts;
  const log = parts.log.child({ node: info.name });
  const start = createStart();
  const watch = suspects.watch();
  const calls = createCalls((message) => send(message), watch);
  const sendIfThere = (message: HubMessage) => isReady && send(message);
  const watching = createThreadWatching({ ...shared, node: info.name, send: sendIfThere });
  let capabilities: ReadyMessage['capabilities'] = {};
  let health: ThreadHealthReport = { running: 0, queued: 0, lagSeconds: 0, skipped: 0 };
  let isReady = false;
  let isClosing = false;
  let reason: string | null = 'starting';
  const restarts = createRestarts(clock);
  let silence: Watchdog | null = null;
  const duty = createGuardDuty(options, guard);
  const given = () => ({ ...options, busy: watching.busy, guard: duty.shared });
  let worker = launch();
  function launch(): Worker {
    const launched = startWorker(module, given(), `node ${info.name}`, { hear, lose });
    silence?.[Symbol.dispose]();
    silence = startWatchdog(clock, times.lookMs, (looks) => {
      if (looks < (isReady ? times.looksUntilSilent : times.looksUntilStarted)) return;
      const seconds = (looks * times.lookMs) / 1_000;
      lose(launched, isReady ? `it said nothing for ${seconds} s` : `it did not start within ${seconds} s`);
      void terminate(launched);
    });
    return launched;
  }

  function hear(message: NodeMessage): void {
    silence?.heard();
    switch (message.kind) {
      case 'ready':
        ({ capabilities } = message);
        if (message.isGuarding === true && !isClosing) duty.begin();
        isReady = true;
        reason = null;
        log.debug({ capabilities }, 'node is ready');
        watching.begin();
        start.wake();
        break;
      case 'health':
        ({ health } = message);
        watch.spoke();
        restarts.reset();
        break;
      case 'watching':
      case 'seen':
        watching.hear(message);
        break;
      case 'problem':
        return log.warn({ problem: message.problem }, 'a check type of the node does not work');
      default:
        calls.hear(message);
    }
  }

  // Called for the same thread by "error", "exit" and silence: only the first call counts.
  function lose(lost: Worker, why: string): void {
    if (lost !== worker || restarts.isWaiting) return;
    duty.end();
    silence?.[Symbol.dispose]();
    isReady = false;
    reason = why;
    watch.lost(watching.lost());
    shared.lookAtRefusals();
    calls.completeAll(nodeGoneOutcome(`the node was lost: ${why}`));
    if (isClosing) return start.wake();
    log.error({ reason: why, restartMs: restarts.nextMs }, 'node crashed; restarting it');
    restarts.begin(() => (worker = launch()));
    start.wake();
  }

  async function run(command: NodeCommand, signal: AbortSignal, listener?: RunListener): Promise<RunOutcome> {
    if (!isReady && !restarts.isWaiting && !isClosing) await orAbort(start.next(), signal);
    if (!isReady || isClosing) return nodeGoneOutcome(`the node is not there: ${reason ?? 'closing'}`);
    const refusal = suspects.refusal(command);
    if (refusal !== null) return suspendedOutcome(refusal);
    return calls.make(command, signal, listener);
  }

  function send(message: HubMessage): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has no origin
    worker.postMessage(message);
  }

  async function close(): Promise<void> {
    isClosing = true;
    duty.end();
    for (const timer of [restarts, silence]) timer?.[Symbol.dispose]();
    start.wake();
    await endThread(worker, () => send({ kind: 'close' }), { clock, log });
  }

  return {
    started: start.first,
    run,
    close,
    watching,
    status(): NodeStatus {
      const load = calls.count / ((options.running + options.queued) * shareOfApi);
      const states = { online: isReady, starting: reason === 'starting', keepsTime: true };
      return { info, ...states, reason, capabilities, load, ...figuresOf(health) };
    },
  };
}

/** When a lost thread is started again: later each time, until `reset`. */
function createRestarts(clock: Clock) {
  let timer: Disposable | null = null;
  let nextMs = firstRestartMs;
  return {
    get isWaiting() {
      return timer !== null;
    },
    get nextMs() {
      return nextMs;
    },
    reset: () => void (nextMs = firstRestartMs),
    begin(restart: () => void): void {
      timer = clock.after(nextMs, () => {
        timer = null;
        restart();
      });
      nextMs = Math.min(nextMs * 2, longestRestartMs);
    },
    [Symbol.dispose]: () => timer?.[Symbol.dispose](),
  };
}

/** Callers that wait until a thread has started or has failed to. */
function createStart() {
  const { promise: first, resolve: hasStarted } = Promise.withResolvers<void>();
  const waiting: (() => void)[] = [];
  return {
    first,
    next: async () => new Promise<void>((resolve) => waiting.push(resolve)),
    wake(): void {
      hasStarted();
      for (const wake of waiting.splice(0)) wake();
    },
  };
}

interface ThreadListener {
  readonly hear: (message: NodeMessage) => void;
  readonly lose: (lost: Worker, why: string) => void;
}

// Its room for new objects has four megabytes, a third of this, from the start. Without a limit it grows as that of the hub may,
// to sixteen times as much.
const resourceLimits = { maxYoungGenerationSizeMb: 12 };

function startWorker(module: URL, options: AgentOptions, name: string, { hear, lose }: ThreadListener): Worker {
  const worker = startThread(module, { workerData: options, name, resourceLimits });
  worker.on('message', (message: NodeMessage) => hear(message));
  worker.on('error', (error) => lose(worker, messageOf(error)));
  worker.on('exit', (code) => lose(worker, `its thread ended with code ${code}`));
  return worker;
}

async function endThread(worker: Worker, ask: () => void, { clock, log }: { clock: Clock; log: Log }): Promise<void> {
  if (worker.threadId === -1) return;
  const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  ask();
  if (await endsWithin(ended, clock, closeMs)) return;
  log.warn('node did not stop in time and was terminated');
  await terminate(worker);
}

function figuresOf({ skipped, ...figures }: ThreadHealthReport) {
  return { ...figures, losses: { dropped: 0, refused: 0, skipped } };
}
