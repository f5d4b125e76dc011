import {
  type CheckRunner,
  type CheckRunnerEnvironment,
  openChecking,
  type CheckingListeners,
} from '#compose/checking.ts';
import type { Config } from '#config/config.ts';
import { isSame } from '#config/apply/same.ts';
import { EndSignal } from '#kernel/end-signal.ts';
import { endsWithin, orAbort, sleep } from '#kernel/clock.ts';
import { messageOf, WatchpostError } from '#kernel/errors.ts';
import type { RoundListener, Runner, WatchHandle, WatchedTarget } from '#monitor/watch/runner.ts';
import type { Runs } from '#service/runs.ts';
import type { Store } from '#store/sqlite.ts';

/** What runs the checks, for as long as the program runs: a reload can have another part do it. */
export interface ReplaceableCheckRunner extends CheckRunner {
  readonly runs: Runs;
  /** Throws `config_invalid` if it could not be. Gives what has the checks run by what `next` names, soon after. */
  prepare(next: Config): Promise<() => void>;
}

type NodeSettings = Parameters<typeof openChecking>[0];
type PartEnvironment = Pick<CheckRunnerEnvironment, 'clock' | 'log'>;

// What runs may end before the part that runs it goes, and the new one may get ready before it is used.
const finishMs = 15_000;
const readyMs = 15_000;
const againMs = 10_000;
// Threads of nodes have three.
const closeMs = 5_000;
// NATS may take its time to answer.
const openMs = 60_000;

/** A target that is watched by whichever part there is. */
class ReplaceableWatch implements WatchHandle {
  readonly target: WatchedTarget;
  readonly listener: RoundListener;
  inner: WatchHandle | null = null;
  isStopped = false;
  readonly #followed: Set<ReplaceableWatch>;
  readonly #ending = new EndSignal();

  constructor(target: WatchedTarget, listener: RoundListener, followed: Set<ReplaceableWatch>) {
    this.target = target;
    this.listener = listener;
    this.#followed = followed;
    followed.add(this);
  }

  get ended(): Promise<void> {
    return this.#ending.promise;
  }

  get underWay(): boolean {
    return this.inner?.underWay ?? false;
  }

  stop(): void {
    this.isStopped = true;
    const { inner } = this;
    if (inner === null) return this.end();
    inner.stop();
    void inner.ended.then(() => {
      if (this.inner === inner) this.end();
    });
  }

  cut(): void {
    this.isStopped = true;
    this.inner?.cut();
    this.end();
  }

  end(): void {
    this.#followed.delete(this);
    this.#ending.end();
  }
}

/**
 * Opens what the configuration names to run checks. If that is replaced, rounds that run end first; meanwhile none begins, and a
 * check that is asked for waits.
 */
export async function openReplaceableChecking(
  config: NodeSettings,
  environment: CheckRunnerEnvironment,
  store: Pick<Store, 'recordLate' | 'history'> | null,
  told: CheckingListeners,
  openPart = openChecking,
): Promise<ReplaceableCheckRunner> {
  const open = async (named: NodeSettings) => openPart(named, environment, store, told);
  const parts = createParts(await open(config), open, environment);
  const { over } = parts;
  const current = () => parts.current;
  let wanted = partsOf(config);
  const runner: Runner = {
    get url() {
      return current().runner.url ?? '';
    },
    nodes: () => current().runner.nodes(),
    leave: () => current().runner.leave?.(),
    waitedMs: () => current().runner.waitedMs(),
    run: async (request, signal) => over(signal, async (checking) => checking.runner.run(request, signal)),
    watch: (target, listener) => parts.watch(target, listener),
  };
  const runs: Runs = {
    nodes: () => current().runs?.nodes() ?? [],
    run: async (request, signal) => over(signal, async (checking) => runsOf(checking).run(request, signal)),
    runOn: async (nodes, command, signal, listener) =>
      over(signal, async (checking) => runsOf(checking).runOn(nodes, command, signal, listener)),
  };
  return {
    runner,
    runs,
    nodes: () => current().nodes(),
    statuses: () => current().statuses(),
    notReady: () => current().notReady(),
    hub: () => current().hub(),
    overload: () => current().overload(),
    overloadedNodes: () => current().overloadedNodes(),
    stored: (run) => current().stored(run),
    async prepare(next) {
      if (isSame(wanted, partsOf(next))) return () => {};
      // What makes it impossible shows now.
      if (next.nats !== null) {
        const { hubAccount } = await import('#transport/nats/keys.ts');
        await hubAccount(next.nats);
      }
      return () => {
        wanted = partsOf(next);
        parts.replace(wanted);
      };
    },
    close: async () => parts.close(),
  };
}

/** Opens and closes parts, and waits for neither for ever. */
function createTimely(open: (named: NodeSettings) => Promise<CheckRunner>, { clock, log }: PartEnvironment) {
  // What does not close keeps no target from being watched.
  async function closeInTime(part: CheckRunner): Promise<void> {
    try {
      if (await endsWithin(part.close(), clock, closeMs)) return;
      log.warn({ waitedMs: closeMs }, 'the last check runner does not close; switching to the next one');
    } catch (error) {
      log.error({ err: error }, 'cannot close the last check runner; switching to the next one');
    }
  }

  // One that opens too late is not used any more.
  async function openInTime(named: NodeSettings): Promise<CheckRunner> {
    const opening = open(named);
    if (
      await endsWithin(
        opening.then(() => {}),
        clock,
        openMs,
      )
    )
      return opening;
    void opening.then(closeInTime, (error: unknown) =>
      log.warn({ reason: messageOf(error) }, 'a check runner that was given up did not open'),
    );
    throw new Error(`it was not open within ${openMs / 1_000} s`);
  }

  return { openInTime, closeInTime };
}

/** The part that runs checks now, and those who use it whichever it is. */
function createParts(
  first: CheckRunner,
  open: (named: NodeSettings) => Promise<CheckRunner>,
  { clock, log }: PartEnvironment,
) {
  const { openInTime, closeInTime } = createTimely(open, { clock, log });
  const followed = new Set<ReplaceableWatch>();
  const closing = new AbortController();
  const running = new Set<symbol>();
  let current = first;
  // Resolves to the part that runs checks: at once, but for the moments in which it is replaced.
  let ready: Promise<CheckRunner> = Promise.resolve(first);
  /** How many replacements are under way or to come. */
  let replacements = 0;

  function follow(one: ReplaceableWatch): void {
    one.inner = current.runner.watch(one.target, one.listener);
  }

  async function replaceBy(named: NodeSettings, before: CheckRunner): Promise<CheckRunner> {
    const watches = [...followed].flatMap(({ inner }) => inner ?? []);
    for (const { inner } of followed) inner?.stop();
    await endsWithin(
      Promise.all(watches.map(async ({ ended }) => ended)).then(() => {}),
      clock,
      finishMs,
    );
    for (const one of followed) {
      one.inner?.cut();
      one.inner = null;
      // It was asked to end meanwhile.
      if (one.isStopped) one.end();
    }
    const idleBy = clock.elapsed() + finishMs;
    while (running.size > 0 && clock.elapsed() < idleBy) await sleep(clock, 50, closing.signal);
    await closeInTime(before);
    current = await openAtLast(named);
    const readyBy = clock.elapsed() + readyMs;
    while (current.notReady().length > 0 && clock.elapsed() < readyBy) await sleep(clock, 50, closing.signal);
    replacements -= 1;
    for (const one of followed) follow(one);
    log.info({ nodes: current.nodes().length }, 'switched to other nodes');
    return current;
  }

  const replaced = async (named: NodeSettings, before: Promise<CheckRunner>) => replaceBy(named, await before);

  // It was validated before: a failure now passes, or has to be logged again and again.
  async function openAtLast(named: NodeSettings): Promise<CheckRunner> {
    for (;;) {
      try {
        return await openInTime(named);
      } catch (error) {
        log.error({ reason: messageOf(error) }, 'cannot start the check runner; retrying');
        await sleep(clock, againMs, closing.signal);
      }
    }
  }

  async function over<Result>(signal: AbortSignal, work: (checking: CheckRunner) => Promise<Result>): Promise<Result> {
    const checking = await orAbort(ready, signal);
    const mark = Symbol('run');
    running.add(mark);
    try {
      return await work(checking);
    } finally {
      running.delete(mark);
    }
  }

  return {
    get current() {
      return current;
    },
    over,
    watch(target: WatchedTarget, listener: RoundListener): WatchHandle {
      const one = new ReplaceableWatch(target, listener, followed);
      if (replacements === 0) follow(one);
      return one;
    },
    replace(named: NodeSettings): void {
      // What is watched from now on is watched by the next part only.
      replacements += 1;
      ready = replaced(named, ready);
      ready.catch((error: unknown) => {
        if (!closing.signal.aborted) log.error({ err: error }, 'the check runner has stopped');
      });
    },
    async close(): Promise<void> {
      closing.abort(new Error('the program is stopping'));
      // A replacement that failed was logged then.
      await Promise.allSettled([ready]);
      await current.close();
    },
  };
}

const partsOf = ({ nodes, nats, foreignService }: NodeSettings): NodeSettings => ({ nodes, nats, foreignService });

function runsOf({ runs }: CheckRunner): Runs {
  if (runs === null) throw new WatchpostError('no_nodes', 'no node can run this check');
  return runs;
}
