import { isDeepStrictEqual } from 'node:util';
import type { Outcome } from '#checks/index.ts';
import { failed, failure } from '#checks/node-types.ts';
import type { Clock } from '#kernel/clock.ts';
import { messageOf } from '#kernel/errors.ts';
import { sharingParts } from '#kernel/same-parts.ts';
import { joinPassed } from '#protocol/due-span.ts';
import type { Observation, PassedChecks } from '#protocol/watching.ts';
import { createWheel, type RecurringItem } from '#schedule/wheel.ts';
import { createOutgoing } from './outgoing.ts';
import type { Agent, NodeCheckCommand, LocalTarget } from './ports.ts';

export interface TargetSchedulerOptions {
  readonly agent: Pick<Agent, 'run'>;
  readonly clock: Clock;
  /** What checks are begun by; default: `clock`. */
  readonly startClock?: Clock;
  /** How far this machine's clock is ahead of the hub's, in milliseconds. */
  readonly aheadMs: () => number;
  /**
   * Takes results, those of each target in the order in which its checks ended. `isNews`: the hub is to read them first. `passed`: the checks
   * that were passed over since the last ones, if any were.
   */
  readonly send: (observations: readonly Observation[], isNews: boolean, passed: PassedChecks | null) => void;
  /** Runs what begins a check that is in time; default: at once. */
  readonly begin?: (check: () => void) => void;
  /** Called when a check begins and when it is over, with the place of its target. */
  readonly onBusy?: (place: number, isBusy: boolean) => void;
}

/** Checks what a node is assigned, whenever it is due. */
export interface TargetScheduler extends Disposable {
  /**
   * Watches this from now on, in place of what was watched before; what stays as it is is not disturbed, and checks that run go on.
   * Gives the moment, by the hub's clock, after which every due time is kept or passed over.
   */
  assign(targets: readonly LocalTarget[]): number;
  /** The hub's clock is another one now. */
  retime(): void;
  /** How many due times went by unused since the start: the thread was held up, or the machine asleep. */
  readonly skipped: number;
}

interface NodeTarget extends RecurringItem {
  schedule: LocalTarget['schedule'];
  assigned: LocalTarget;
  readonly command: NodeCheckCommand;
  isRunning: boolean;
  /** What was seen last, in a word. */
  last: string;
  /** How many results were the same since it changed. */
  same: number;
}

// What is later takes less CPU if all of it begins together.
const inTimeMs = 20;

// So many results after a change are still news: an incident ends by them.
const newsAfterChange = 10;

/**
 * Watches what it is assigned:
 *
 * 1. one wheel has the time of all targets; a due time that comes while the check before still runs is passed over;
 * 2. news (a result that is down, other than the one before, or one of the ten after that) goes to the hub at once, in messages of its
 *    own;
 * 3. anything else waits for company, up to a second.
 */
export function watchTargets(options: TargetSchedulerOptions): TargetScheduler {
  const { agent, clock, startClock = clock, aheadMs, send, begin = (check) => check(), onBusy } = options;
  const ending = new AbortController();
  const watched = new Map<string, NodeTarget>();
  const sharing = sharingParts<LocalTarget>();
  let skipped = 0;
  let passed: PassedChecks | null = null;
  const outgoing = createOutgoing(clock, (observations, isNews) => {
    send(observations, isNews, passed);
    passed = null;
  });
  const wheel = createWheel<NodeTarget>({
    clock: startClock,
    aheadMs,
    start,
    skipped(_, count, { from, until, isOverload }) {
      skipped += count;
      passed = joinPassed(passed, { checks: isOverload ? count : 0, due: { from, until } });
    },
  });

  function start(target: NodeTarget, dueAt: number): void {
    if (target.isRunning) return;
    target.isRunning = true;
    onBusy?.(target.assigned.place, true);
    if (startClock.now() - aheadMs() - dueAt > inTimeMs) void check(target, dueAt);
    else begin(() => void check(target, dueAt));
  }

  async function check(target: NodeTarget, dueAt: number): Promise<void> {
    const { name, assigned } = target;
    let startedAt = clock.now();
    const outcome = await look(target, (at) => (startedAt = at));
    target.isRunning = false;
    onBusy?.(assigned.place, false);
    if (outcome === null) return;
    const observation = { target: name, revision: assigned.revision, dueAt, outcome, startedAt: startedAt - aheadMs() };
    const word = wordFor(outcome);
    target.same = word === target.last ? target.same + 1 : 0;
    target.last = word;
    const isNews = target.same < newsAfterChange || outcome.status === 'down' || watched.get(name) !== target;
    outgoing.add(observation, isNews);
  }

  async function look({ assigned, command }: NodeTarget, onStarted: (at: number) => void): Promise<Outcome | null> {
    if (assigned.refusal !== null) return failed(failure('node', 'internal', assigned.refusal));
    try {
      return await agent.run(command, ending.signal, { onStarted });
    } catch (error) {
      return ending.signal.aborted ? null : failed(failure('node', 'internal', messageOf(error)));
    }
  }

  function take(given: LocalTarget): void {
    const { name, schedule, revision, refusal } = given;
    const known = watched.get(name);
    if (known?.assigned.revision === revision && known.assigned.refusal === refusal) {
      if (isDeepStrictEqual(known.schedule.slots, schedule.slots)) return;
      known.assigned = sharing(given);
      known.schedule = known.assigned.schedule;
      return wheel.add(known);
    }
    const assigned = sharing(given);
    const { spec, policy, deadlineMs } = assigned;
    const command = { spec, policy, deadlineMs, isPatient: true };
    const target: NodeTarget = {
      name,
      schedule: assigned.schedule,
      assigned,
      command,
      isRunning: false,
      last: upWord,
      same: newsAfterChange,
    };
    watched.set(name, target);
    wheel.add(target);
  }

  return {
    assign(targets) {
      const names = new Set(targets.map(({ name }) => name));
      for (const name of watched.keys()) {
        if (names.has(name)) continue;
        wheel.remove(name);
        watched.delete(name);
      }
      targets.forEach(take);
      outgoing.flush();
      return clock.now() - aheadMs();
    },
    retime: () => wheel.retime(),
    get skipped() {
      return skipped;
    },
    [Symbol.dispose]() {
      wheel[Symbol.dispose]();
      outgoing.flush();
      ending.abort(new Error('the node is closing'));
    },
  };
}

// Nothing was seen yet: that it is up is no news.
const upWord = 'up';
const wordFor = (outcome: Outcome) => (outcome.status === 'up' ? upWord : `${outcome.status} ${outcome.failure.code}`);
