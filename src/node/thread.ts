import { flushCompileCache } from 'node:module';
import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '#kernel/clock.ts';
import { onTick } from '#kernel/ticks.ts';
import { createPunctualClock } from '#kernel/punctual.ts';
import { systemRandom } from '#kernel/random.ts';
import { nameSourcesInStackTraces } from '#kernel/stack-traces.ts';
import { collectGarbage } from '#kernel/garbage.ts';
import { createStopWatch, type StopWatch } from '#kernel/stop-watch.ts';
import { startAgent } from './agent.ts';
import type { AgentOptions, NodeMessage, HubMessage } from './ports.ts';
import { watchTargets } from './watching.ts';

// The entry of a node that lives in a worker thread of the hub, so that measuring never shares an event loop with storage
// or HTTP. It trusts its hub, because both are one program: what it is given was parsed, and it loads neither schemas nor zod.

const healthEveryMs = 1_000;

nameSourcesInStackTraces();

async function main(port: NonNullable<typeof parentPort>, options: AgentOptions): Promise<void> {
  const say = (message: NodeMessage) => port.postMessage(message);
  const agent = await startAgent(options, systemClock, systemRandom, (problem) => say({ kind: 'problem', problem }));
  const stopWatch = await stopWatchOf(options);
  const running = new Map<number, AbortController>();
  const busy = options.busy === undefined ? null : new Uint8Array(options.busy);
  let aheadMs = 0;
  const watching = watchTargets({
    agent,
    clock: systemClock,
    startClock: createPunctualClock({ clock: systemClock, isIdle: () => !agent.isTiming }),
    aheadMs: () => aheadMs,
    send: (observations, isNews, passed) => say({ kind: 'seen', observations, isNews, passed }),
    // Each by itself: a few checks that begin in one go would all take their first step before any takes its second, and connect late.
    begin: setImmediate,
    onBusy(place, isBusy) {
      if (busy !== null) busy[place] = isBusy ? 1 : 0;
    },
  });

  const run = async ({ id, command }: Extract<HubMessage, { kind: 'run' }>) => {
    const controller = new AbortController();
    running.set(id, controller);
    try {
      let startedAt: number | null = null;
      const outcome = await agent.run(command, controller.signal, {
        onStarted: (at) => (startedAt = at),
        onInterim: (detail) => say({ kind: 'interim', id, detail }),
      });
      say({ kind: 'outcome', id, outcome, startedAt });
    } catch (error) {
      if (!controller.signal.aborted) throw error;
    } finally {
      running.delete(id);
    }
  };

  // What its types need is loaded before the first check, which it would hold up. One assignment after the other.
  let assigning = Promise.resolve();
  let isClosing = false;
  const assign = async ({ targets, number }: Extract<HubMessage, { kind: 'watch' }>) => {
    // Evidence is needed at the moment of a failure.
    const types = new Set([
      ...targets.map(({ spec }) => spec.type),
      ...(targets.length > 0 ? (['evidence'] as const) : []),
    ]);
    await agent.prepare([...types]);
    if (isClosing) return;
    say({ kind: 'watching', number, since: watching.assign(targets) });
  };

  const report = () => {
    stopWatch?.look();
    say({ kind: 'health', health: { ...agent.health(), skipped: watching.skipped } });
    timer = onTick(systemClock, healthEveryMs, report);
  };
  let timer = onTick(systemClock, healthEveryMs, report);

  const close = async () => {
    isClosing = true;
    timer[Symbol.dispose]();
    watching[Symbol.dispose]();
    for (const controller of running.values()) controller.abort(new Error('the node is closing'));
    await agent.close();
    port.close();
  };

  port.on('message', (message: HubMessage) => {
    switch (message.kind) {
      case 'run':
        void run(message);
        break;
      case 'watch':
        assigning = assigning.then(async () => assign(message));
        break;
      case 'clock':
        ({ aheadMs } = message);
        watching.retime();
        break;
      case 'abort':
        running.get(message.id)?.abort(new Error('this check was cancelled'));
        break;
      case 'close':
        void close();
        break;
    }
  });
  // Before any check is due: Node would hold what it has for its cache until the end, and writing it holds up the thread.
  flushCompileCache();
  collectGarbage();
  say({ kind: 'ready', capabilities: agent.capabilities, isGuarding: stopWatch !== null });
}

/** Null where the hub's own thread has to guard the stop. */
async function stopWatchOf({ guard }: AgentOptions): Promise<StopWatch | null> {
  if (guard === undefined) return null;
  try {
    return await createStopWatch(guard);
  } catch {
    // There is no C library to call, and the hub hears so.
    return null;
  }
}

if (parentPort === null) throw new Error('node/thread.ts runs as a worker thread only');
// The hub's compose.ts is the only one to start this thread, with options of this very type.
await main(parentPort, workerData as AgentOptions); // oxlint-disable-line typescript/no-unsafe-type-assertion
