import type { NodeInfo, Policy } from '#checks/index.ts';
import { type Clock, clockJitterMs, notAhead } from '#kernel/clock.ts';
import type { Observation } from '#protocol/watching.ts';
import { createWheel } from '#schedule/wheel.ts';
import { askNodes } from './ask-nodes.ts';
import { assignedOf, Assignments, type TargetDefinition } from './assignments.ts';
import { type HubAbsence, type CatchUp, type CatchUpOptions, createCatchUp } from './catch-up.ts';
import { ClockLook, type TimeSources } from './clock-look.ts';
import { createInbox, type Inbox } from './inbox.ts';
import { createLateKeeper, type LateOptions } from './late.ts';
import { createTimedItems } from './timed-items.ts';
import { createOverload, type Overload } from './overload.ts';
import {
  createTargetWatch,
  setVoters,
  votersOf,
  limitMsOf,
  openRounds,
  type TargetWatch,
  type WatchOwner,
  type WatchHandle,
  WatchControl,
} from './target-watch.ts';
import type { ResultBatch, Transport } from './ports.ts';
import { collectRounds } from './rounds.ts';
import { refusalOf } from './refusal.ts';
import { resumeAfterGap, resumeAfterSetBack, resumeNode } from './returning.ts';
import type { Runs } from './runs.ts';
import { selectNodes } from './select.ts';
import { SharedSlots } from './shared-slots.ts';
import { createStoredRounds, type StoredRounds } from './stored-rounds.ts';
import type { RoundSink } from './target-rounds.ts';
import { createVoteIntake } from './vote-intake.ts';
import { type CountedTime, WatchingNodes } from './watching-nodes.ts';

export interface WatchServiceOptions extends LateOptions, TimeSources, CountedTime {
  readonly transport: Pick<Transport, 'nodes' | 'assign' | 'listen'>;
  /** Asks nodes that do not keep the time by themselves. */
  readonly runs: Pick<Runs, 'runOn'>;
  readonly policy: Policy;
  /** What nodes may observe while nothing is judged here; null if no node goes on without this process. */
  readonly absence?: HubAbsence | null;
  /** Called if nodes held more than could be judged. */
  readonly onUnjudged?: CatchUpOptions['onUnjudged'];
  readonly clock: Clock;
}

const tickMs = 1_000;

/**
 * Has targets watched by nodes:
 *
 * 1. each node that keeps the time is assigned its targets, and anew when targets or nodes change; others are asked when a target
 *    is due;
 * 2. what nodes see is collected to rounds, which are over when all who were to vote have, or at their limit;
 * 3. a round without a verdict takes the votes of nodes that could not be heard, and is judged once they are back (`catch-up.ts`);
 *    any other vote that comes later is stored as late, and so is one on another revision from before this one was watched;
 * 4. if more comes in than can be judged, healthy results are skipped unread, the oldest first, and rounds of targets that are up are
 *    left out: counted, and kept as late.
 */
export class WatchService implements Disposable {
  readonly #options: WatchServiceOptions;
  readonly #places = new Map<string, TargetWatch>();
  readonly #wheel;
  readonly #assignments: Assignments;
  readonly #storedRounds: StoredRounds;
  readonly #timed = createTimedItems<TargetWatch>();
  readonly #overload: Overload;
  readonly #inbox: Inbox;
  readonly #keepLate;
  readonly #catchUp: CatchUp;
  readonly #takeVote;
  // What all targets share.
  readonly #voting = {
    statusOf: (node: string) => this.#nodes.find(node),
    isShed: (node: string, dueAt: number) => this.#overload.isShed(node, dueAt),
    isBusy: (node: string, dueAt: number) => this.#nodes.isBusy(node, dueAt),
    isAhead: (dueAt: number) => this.#clockLook.isAhead(dueAt),
    onJudged: (target: string, dueAt: number) => this.#storedRounds.judged({ target, dueAt }),
  };
  readonly #watched: WatchOwner = {
    now: () => this.#options.clock.now(),
    stop: (place) => this.#stop(place),
    end: (place) => this.#end(place),
  };
  readonly #nodes: WatchingNodes;
  #isDirty = false;
  #isClosed = false;
  #isLeft = false;
  #ticking: Disposable | null = null;
  readonly #slots = new SharedSlots();
  readonly #clockLook: ClockLook;

  constructor(options: WatchServiceOptions) {
    const { clock, transport } = options;
    this.#options = options;
    this.#assignments = new Assignments(transport);
    this.#nodes = new WatchingNodes(transport, clock, options.countedMs);
    this.#storedRounds = createStoredRounds(clock);
    this.#keepLate = createLateKeeper(options);
    this.#overload = createOverload(clock, options.log, () => this.#inbox.intake, options.countedMs);
    this.#inbox = createInbox({
      ...this.#overload,
      clock,
      read: (...part) => this.#read(...part),
      giveUp: ({ observations }, from) => this.#overload.giveUp(observations.slice(from), this.#places),
    });
    this.#catchUp = createCatchUp({ absence: null, onUnjudged: () => {}, ...options, onOver: () => this.#judgeAll() });
    this.#takeVote = createVoteIntake(this.#catchUp, this.#storedRounds, this.#keepLate);
    this.#clockLook = new ClockLook(clock, tickMs, options);
    this.#wheel = createWheel<TargetWatch>({
      clock,
      start: (place, dueAt) =>
        askNodes(place, dueAt, { ...options, takeVote: this.#takeVote, judge: () => this.#judge(place) }),
      skipped: () => {},
    });
    transport.listen({
      watching: (node, number, since) => this.#heardWatching(node, number, since),
      watches: (target) => this.#places.has(target),
      refuses: (_, one) => refusalOf(this.#places.get(one.target), one, this.#clockLook.setBacks, clock.now()),
      seen: (...observations) => this.#inbox.add(...observations),
      granted: () => this.#overload.granted(),
      skipped: (...observations) => this.#overload.notSent(...observations),
      passedOver: (node, passed) => this.#nodes.passedOver(node, passed),
      receive: (batch) => this.#inbox.addUnread(batch),
    });
  }

  /** For how many milliseconds the oldest result that came has waited to be read. */
  readonly waitedMs = (): number => this.#inbox.intake.waitedMs;

  /** Watches a target from now on. One of each name at a time. */
  watch(target: TargetDefinition, sink: RoundSink): WatchHandle {
    const { clock, policy } = this.#options;
    const { name, schedule } = target;
    const assigned = assignedOf(target, policy);
    const limitMs = limitMsOf(assigned.deadlineMs);
    const rounds = collectRounds({ ...this.#voting, target, limitMs, sink }, this.#catchUp.marksOf(name));
    const place = createTargetWatch({ name, schedule, target, assigned, rounds, now: clock.now() });
    this.#places.set(name, place);
    this.#timed.add(place, rounds.awaited);
    this.#change();
    return new WatchControl(place, this.#watched);
  }

  #stop(place: TargetWatch): void {
    place.stoppedAt = Math.min(place.stoppedAt, this.#options.clock.now());
    this.#wheel.remove(place.name);
    this.#change();
    this.#judge(place);
  }

  #end(place: TargetWatch): void {
    place.work?.abort(new Error('this round was cancelled'));
    if (this.#places.get(place.name) === place) this.#places.delete(place.name);
    this.#catchUp.ended(place.name, place.stoppedAt);
    this.#wheel.remove(place.name);
    this.#change();
    place.ending.end();
  }

  /** What nodes watch stays as it is from now on: this process ends, and they go on. */
  readonly leave = () => void (this.#isLeft = true);

  /** Why rounds were shed within the last minute, in words; null if none was. */
  readonly overload = () => this.#overload.reason();

  /** Nodes that had more to check within the last minute than they could manage, those that left out the most first. */
  readonly overloadedNodes = () => this.#nodes.overloaded();

  /** To be called when a round is stored, by its name. */
  readonly stored = (round: string) => this.#storedRounds.stored(round);

  [Symbol.dispose](): void {
    this.#isClosed = true;
    for (const part of [this.#ticking, this.#wheel, this.#inbox]) part?.[Symbol.dispose]();
    for (const place of this.#places.values()) this.#end(place);
  }

  // Many changes together are one.
  #change(): void {
    if (this.#isDirty || this.#isClosed) return;
    this.#isDirty = true;
    this.#ticking?.[Symbol.dispose]();
    this.#ticking = this.#options.clock.after(0, () => this.#tick());
  }

  #tick(): void {
    const { clock } = this.#options;
    const wasHeldUp = this.#lookAtClock();
    this.#ticking = null;
    if (this.#lookAtNodes() || this.#isDirty || this.#slots.isDue(clock.now())) this.#assign();
    // Results that have arrived meanwhile are read before a node is given up.
    const act = (place: TargetWatch) => this.#places.get(place.name) === place && this.#judge(place);
    if (!wasHeldUp && !this.#timed.look(clock, act)) this.#ticking = clock.after(0, () => this.#tick());
    this.#catchUp.look(() => [...this.#places.values()].map(({ rounds }) => rounds));
    this.#storedRounds.forget();
    if (this.#places.size > 0) this.#ticking ??= this.#clockLook.next(this.#catchUp.lookMs(), () => this.#tick());
  }

  // Whether this thread was held up until now.
  #lookAtClock(): boolean {
    const [state, places] = [this.#clockLook.look(), this.#places.values()];
    if (state.isSetBack) resumeAfterSetBack(places, [this.#assignments, this.#timed, this.#catchUp], state);
    else if (state.wasAway || state.isSetForward)
      resumeAfterGap(places, this.#options.absence ?? null, this.#catchUp, state);
    return state.isLate;
  }

  // Whether they are others than before, or can do other things.
  #lookAtNodes(): boolean {
    const { isChanged, returned } = this.#nodes.look();
    for (const node of returned) resumeNode(node, this.#places.values(), this.#catchUp);
    return isChanged;
  }

  // Nodes changed: rounds that wait for one of them may be over.
  #lookAtAll(): void {
    for (const place of this.#places.values()) this.#timed.add(place, place.rounds.awaited);
  }

  #assign(): void {
    this.#isDirty = false;
    this.#lookAtAll();
    if (this.#isLeft) return;
    const { candidates } = this.#nodes;
    const everyone = votersOf(candidates);
    const now = this.#options.clock.now();
    for (const place of this.#slots.share(this.#places.values(), now)) {
      this.#timed.add(place, place.rounds.awaited);
      if (this.#wheel.has(place.name)) this.#wheel.add(place);
    }
    const wanted = new Map(this.#nodes.keepingTime.map((node) => [node, [] as TargetWatch[]]));
    for (const place of this.#places.values()) {
      if (place.stoppedAt !== Number.POSITIVE_INFINITY) continue;
      const chosen = selectNodes(candidates, place.target.nodes, place.name);
      // Thousands of targets have the same: a list for each weighs megabytes.
      setVoters(place, chosen === candidates ? everyone : votersOf(chosen), now);
      for (const { info } of chosen) wanted.get(info.name)?.push(place);
      if (place.asked.length > 0 && !this.#wheel.has(place.name)) this.#wheel.add(place);
      else if (place.asked.length === 0) this.#wheel.remove(place.name);
    }
    for (const [node, places] of wanted) this.#assignments.put(node, places);
    // By now it is known who has a vote.
    this.#inbox.open();
  }

  #heardWatching(node: string, number: number, since: number): void {
    const known = notAhead(since, this.#options.clock.now() + clockJitterMs);
    if (this.#assignments.heard(node, number, known, this.#places.values())) this.#lookAtAll();
    if (this.#lookAtNodes()) this.#change();
  }

  #read({ node, observations, confirm }: ResultBatch, from: number, to: number, isBehind: boolean): void {
    // One that has just come has its vote from its first word on.
    if (this.#nodes.find(node)?.online !== true) {
      if (this.#nodes.isReturning(node)) resumeNode(node, this.#places.values(), this.#catchUp);
      if (this.#lookAtNodes()) this.#assign();
    }
    const info = this.#nodes.find(node)?.info;
    const places = new Set<TargetWatch>();
    for (let index = from; index < to; index += 1) {
      const observation = observations[index];
      const place = this.#places.get(observation?.target ?? '');
      if (observation === undefined || info === undefined || place === undefined) {
        // What is not watched any more because this process ends is retained by its node, for the next one.
        if (!this.#isLeft) confirm?.();
      } else {
        if (isBehind && !this.#catchUp.holds(place.rounds)) this.#overload.skipResult(place, observation);
        this.#take(info, place, observation, confirm);
        places.add(place);
      }
    }
    for (const place of places) this.#judge(place);
  }

  #take(node: NodeInfo, place: TargetWatch, observation: Observation, confirm: (() => void) | null): void {
    const { target, revision, dueAt, outcome, startedAt } = observation;
    if (place.assigned.revision !== revision) {
      const late = { target, dueAt, node, outcome, isOfEarlierCheck: true } as const;
      return dueAt <= place.since ? void this.#keepLate(late, confirm) : confirm?.();
    }
    if (outcome.status !== 'up') place.badAt = Math.max(place.badAt, dueAt);
    const isCalled = place.rounds.isVoter(node.name) || dueAt <= this.#catchUp.beganAt;
    this.#takeVote(place, { node, dueAt, outcome, startedAt }, isCalled, confirm);
  }

  // What came in meanwhile, over all targets in the order in which it was due.
  #judgeAll(): void {
    for (const { place, dueAt } of openRounds(this.#places.values(), this.#options.clock.now()))
      this.#judge(place, dueAt);
  }

  #judge(place: TargetWatch, until = Number.POSITIVE_INFINITY): void {
    const { rounds, stoppedAt } = place;
    const now = this.#options.clock.now();
    // Messages may come before the next look.
    if (this.#clockLook.isOverdue(now)) this.#lookAtClock();
    let lookAt = now;
    if (!this.#catchUp.holds(rounds)) {
      // A node whose results may be here unread is not given up.
      lookAt = rounds.judge(now, Math.min(stoppedAt, until), this.#inbox.readUntil);
      if (rounds.awaited > stoppedAt) this.#end(place);
    }
    this.#timed.add(place, Math.max(lookAt, now + tickMs));
  }
}
