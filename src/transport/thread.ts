import { Worker } from 'node:worker_threads';
import { type Clock, deadline, orAbort } from '#kernel/clock.ts';
import { messageOf } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import type { AgentOptions, FromNode, ToNode } from '#node/ports.ts';
import { gone, type NodeCommand, type NodeStatus, putAside, type Transport } from '#service/ports.ts';
import { createSuspects, type Suspects } from './suspects.ts';

type Outcome = Extract<FromNode, { kind: 'outcome' }>['outcome'];
type NodeInfo = NodeStatus['info'];

export interface ThreadNode {
  readonly info: NodeInfo;
  readonly options: AgentOptions;
}

export interface ThreadTransportOptions {
  readonly nodes: readonly ThreadNode[];
  /** The module that a node's thread runs. */
  readonly entry: URL;
  readonly clock: Clock;
  readonly log: Log;
}

const silenceMs = 15_000;
const firstRestartMs = 1_000;
const longestRestartMs = 30_000;
const closeMs = 3_000;

/** Nodes in worker threads. A thread that dies or falls silent ends its checks as node faults and is started again. */
export function createThreadTransport({ nodes, entry, clock, log }: ThreadTransportOptions): Transport {
  const suspects = createSuspects(clock, log);
  const threads = new Map(nodes.map((node) => [node.info.name, createNodeThread(node, entry, clock, log, suspects)]));
  return {
    nodes: () => [...threads.values()].map((thread) => thread.status()),
    async run(name, command, signal) {
      const thread = threads.get(name);
      return thread === undefined ? gone(`there is no node "${name}"`) : thread.run(command, signal);
    },
    close: async () => {
      await Promise.all([...threads.values()].map((thread) => thread.close()));
    },
  };
}

interface Waiting {
  settle(outcome: Outcome): void;
}

type Ready = Extract<FromNode, { kind: 'ready' }>;
type Health = Extract<FromNode, { kind: 'health' }>['health'];

function createNodeThread({ info, options }: ThreadNode, entry: URL, clock: Clock, parentLog: Log, suspects: Suspects) {
  const watch = suspects.watch();
  const log = parentLog.child({ node: info.name });
  const waiting = new Map<number, Waiting>();
  const starting: (() => void)[] = [];
  let nextId = 1;
  let capabilities: Ready['capabilities'] = {};
  let health: Health = { running: 0, queued: 0, lagSeconds: 0 };
  let ready = false;
  let closing = false;
  let reason: string | null = 'starting';
  let restartMs = firstRestartMs;
  let restart: Disposable | null = null;
  let silence: Disposable | null = null;
  let worker = launch();

  function launch(): Worker {
    const started = new Worker(entry, { workerData: options, name: `node ${info.name}` });
    started.on('message', (message: FromNode) => hear(message));
    started.on('error', (error) => lose(started, messageOf(error)));
    started.on('exit', (code) => lose(started, `its thread ended with code ${code}`));
    return started;
  }

  function hear(message: FromNode): void {
    listenForSilence();
    switch (message.kind) {
      case 'ready':
        ({ capabilities } = message);
        ready = true;
        reason = null;
        log.debug({ capabilities }, 'node is ready');
        for (const wake of starting.splice(0)) wake();
        break;
      case 'health':
        ({ health } = message);
        watch.spoke();
        restartMs = firstRestartMs;
        break;
      case 'outcome':
        watch.ended(message.id);
        waiting.get(message.id)?.settle(message.outcome);
        break;
    }
  }

  function listenForSilence(): void {
    silence?.[Symbol.dispose]();
    const watched = worker;
    silence = clock.after(silenceMs, () => {
      lose(watched, `it said nothing for ${silenceMs} ms`);
      void watched.terminate();
    });
  }

  // Called for the same thread by "error", "exit" and silence: only the first call counts.
  function lose(lost: Worker, why: string): void {
    if (lost !== worker || restart !== null) return;
    silence?.[Symbol.dispose]();
    ready = false;
    reason = why;
    watch.lost();
    for (const one of waiting.values()) one.settle(gone(`the node was lost: ${why}`));
    if (closing) return;
    log.error({ reason: why, restartMs }, 'node is lost and will be started again');
    restart = clock.after(restartMs, () => {
      restart = null;
      worker = launch();
      listenForSilence();
    });
    restartMs = Math.min(restartMs * 2, longestRestartMs);
  }

  async function whenReady(signal: AbortSignal): Promise<void> {
    if (ready || restart !== null) return;
    await orAbort(new Promise<void>((resolve) => starting.push(resolve)), signal);
  }

  async function run(command: NodeCommand, signal: AbortSignal): Promise<Outcome> {
    await whenReady(signal);
    if (!ready || closing) return gone(`the node is not there: ${reason ?? 'closing'}`);
    const refusal = suspects.refusal(command);
    if (refusal !== null) return putAside(refusal);
    const id = nextId++;
    try {
      return await orAbort(ask(id, command), signal);
    } catch (error) {
      if (signal.aborted) {
        watch.aborted(id);
        send({ kind: 'abort', id });
      }
      throw error;
    } finally {
      waiting.delete(id);
    }
  }

  async function ask(id: number, command: NodeCommand): Promise<Outcome> {
    return new Promise<Outcome>((settle) => {
      waiting.set(id, { settle });
      watch.began(id, command);
      send({ kind: 'run', id, command });
    });
  }

  function send(message: ToNode): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has no origin
    worker.postMessage(message);
  }

  async function close(): Promise<void> {
    closing = true;
    restart?.[Symbol.dispose]();
    silence?.[Symbol.dispose]();
    for (const wake of starting.splice(0)) wake();
    if (worker.threadId === -1) return;
    const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
    send({ kind: 'close' });
    using limit = deadline(clock, closeMs);
    try {
      await orAbort(ended, limit.signal);
    } catch {
      log.warn('node did not close in time and was ended');
      await worker.terminate();
    }
  }

  listenForSilence();
  return {
    run,
    close,
    status: (): NodeStatus => ({ info, online: ready, reason, capabilities, ...health }),
  };
}
