import {
  checkOf,
  type CheckSpec,
  failed,
  failure,
  type Failure,
  type NodeInfo,
  type Outcome,
  type Policy,
  unfinishedOutcome,
} from '#checks/index.ts';
import type { Clock } from '#kernel/clock.ts';
import { messageOf, WatchpostError } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import type { Random } from '#kernel/random.ts';
import { CheckRun, closedRun } from './check-run.ts';
import type { NodeStatus, ServiceStore } from './ports.ts';
import type { NodeOutcomeListener, Runs } from './runs.ts';

export interface StartRequest {
  readonly spec: CheckSpec;
  /** What is stored of it and shown to clients with the link, if that is not all. */
  readonly shown?: CheckSpec;
  /** At least one. */
  readonly nodes: readonly NodeInfo[];
  readonly policy: Policy;
}

/** The life of the runs that are started over the API. */
export interface Checks {
  nodes(): readonly NodeStatus[];
  /**
   * 1. The run is stored; rejects with `store_failed` if it cannot be, with `service_busy` where too many run already.
   * 2. Its nodes work, and each outcome is kept as it comes; under `public` without what it tells of a node's own network.
   * 3. Every node has an outcome by the check's deadline: its own, or a fault of the node or the service.
   */
  start(request: StartRequest): Promise<CheckRun>;
  /** A run by its identifier, from memory or from the store; null if there is none any more. */
  find(id: string): CheckRun | null;
  /** How many runs wait for outcomes. */
  readonly open: number;
  /** Takes no more runs and ends the open ones as faults of the service. Idempotent. */
  close(): Promise<void>;
}

export interface ChecksOptions {
  readonly runs: Runs;
  readonly store: ServiceStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** The most runs that may wait for outcomes at the same time. */
  readonly openLimit?: number;
  /** What its identifiers begin with: four letters and digits, or nothing. */
  readonly idTag?: string;
}

const runIdPattern = /^(?:[0-9A-Za-z]{4})?[0-9A-Za-z]{20}$/;

/**
 * Identifiers of 20 letters and digits. Those of some starts in a row begin alike, so that they stand together in the index of the
 * store and one page of it is written for them instead of one for each; 101 random bits are each one's own. The tag of one of several hubs
 * comes first.
 */
export function createIds(random: Random, tag = ''): () => string {
  const inARow = 64;
  let beginning = '';
  let left = 0;
  return () => {
    if (left === 0) {
      beginning = tag + random.id(3);
      left = inARow;
    }
    left -= 1;
    return beginning + random.id(17);
  };
}

const defaultOpenLimit = 20_000;
// Clients poll: what they ask for next stays in memory, up to so many outcomes.
const recentOutcomes = 20_000;

export function createChecks(options: ChecksOptions): Checks {
  const { runs, store, clock, random, log, openLimit = defaultOpenLimit, idTag } = options;
  const recent = createRecent(recentOutcomes);
  let open = 0;
  const closing = new AbortController();
  const nextId = createIds(random, idTag);
  const allEnded = Promise.withResolvers<void>();

  async function runCheck(run: CheckRun, { spec, nodes, policy }: StartRequest): Promise<void> {
    const { forStrangers } = checkOf(spec.type);
    const record = (node: NodeInfo, whole: Outcome) => {
      const outcome = policy === 'public' ? forStrangers(whole) : whole;
      const position = run.record(node, outcome);
      if (position !== -1) store.addOutcome(run.id, position, outcome);
    };
    using interims = collectInterims(clock, (all) => run.recordInterim(all));
    const listener: NodeOutcomeListener = {
      onOutcome: ({ node, outcome }) => record(node, outcome),
      onInterim(node, detail) {
        const whole = unfinishedOutcome(detail);
        interims.add(node, policy === 'public' ? forStrangers(whole) : whole);
      },
    };
    try {
      await runs.runOn(nodes, { spec, policy, origin: 'api' }, closing.signal, listener);
    } catch (error) {
      if (!closing.signal.aborted) log.error({ run: run.id, err: error }, 'run failed');
      const reason = faultOf(error, closing.signal);
      for (const { node, outcome } of run.results) if (outcome === null) record(node, failed(reason));
    }
    end();
  }

  function end(): void {
    open -= 1;
    if (closing.signal.aborted && open === 0) allEnded.resolve();
  }

  return {
    nodes: () => runs.nodes(),

    async start(request) {
      const { nodes, shown: spec = request.spec } = request;
      if (closing.signal.aborted) throw new WatchpostError('service_busy', 'the service is stopping');
      if (open >= openLimit) throw new WatchpostError('service_busy', `${openLimit} checks are running already`);
      const id = nextId();
      const results = nodes.map((node) => ({ node, outcome: null }));
      const run = new CheckRun({ id, createdAt: clock.now(), spec, results });
      open += 1;
      recent.add(run);
      try {
        await store.addRun({ id, createdAt: run.createdAt, spec, nodes });
      } catch (error) {
        recent.remove(id);
        end();
        throw error;
      }
      void runCheck(run, request);
      return run;
    },

    find(id) {
      if (!runIdPattern.test(id)) return null;
      const known = recent.find(id);
      if (known !== null) return known;
      const stored = store.findRun(id);
      if (stored === null) return null;
      const run = closedRun(stored);
      recent.add(run);
      return run;
    },

    get open() {
      return open;
    },

    async close() {
      closing.abort(new Error('the service is stopping'));
      if (open > 0) await allEnded.promise;
    },
  };
}

// Nodes pass them on a few times a second each, and every caller that waits is answered then.
const interimEveryMs = 500;

/** Hands on the newest interim result of each node, together. */
function collectInterims(clock: Clock, handOn: (interims: ReadonlyMap<string, Outcome>) => void) {
  let waiting = new Map<string, Outcome>();
  let timer: Disposable | null = null;
  const flush = () => {
    timer = null;
    const all = waiting;
    waiting = new Map();
    handOn(all);
  };
  return {
    add({ name }: NodeInfo, outcome: Outcome): void {
      waiting.set(name, outcome);
      timer ??= clock.after(interimEveryMs, flush);
    },
    [Symbol.dispose]: () => timer?.[Symbol.dispose](),
  };
}

function faultOf(error: unknown, closing: AbortSignal): Failure {
  if (closing.aborted) return failure('service', 'aborted', 'the service was stopped before this node answered');
  return failure('service', 'internal', `the service failed: ${messageOf(error)}`);
}

/**
 * Runs that wait for outcomes, and of the others those that were asked for last: between half of `limit` and all of it in outcomes, as
 * a run with many nodes takes the room of many. What is found among the older half is young again, so finding costs no more than
 * looking.
 */
export function createRecent(limit: number) {
  let young = new Map<string, CheckRun>();
  let old = new Map<string, CheckRun>();
  let outcomes = 0;

  function add(run: CheckRun): void {
    young.set(run.id, run);
    outcomes += run.results.length;
    if (outcomes < limit / 2) return;
    const dropped = old;
    old = young;
    young = new Map();
    outcomes = 0;
    // They do not count: however many wait, each is moved once in so many others.
    for (const one of dropped.values()) if (!one.done) young.set(one.id, one);
  }

  return {
    add,
    find(id: string): CheckRun | null {
      const found = young.get(id);
      if (found !== undefined) return found;
      const older = old.get(id);
      if (older === undefined) return null;
      old.delete(id);
      add(older);
      return older;
    },
    remove(id: string): void {
      if (!young.delete(id)) old.delete(id);
    },
  };
}
