import { checkOf, type CheckSpec, type NodeInfo } from '#checks/index.ts';
import { clockJitterMs } from '#kernel/clock.ts';
import { plainlyBetween } from '#kernel/clock-steps.ts';
import { onceFor } from '#kernel/once-for.ts';
import { hostIn } from '#kernel/url.ts';
import { type Connectivity, createConnectivity } from './suppress/connectivity.ts';
import { createSuppressions, type Suppressions } from './suppress/suppressions.ts';
import type { Maintenance } from './suppress/maintenance.ts';
import { createOwnIncidents, type OwnIncidents, suspectedNodeOf } from './suppress/own-incidents.ts';
import { createServiceAway } from './suppress/service-away.ts';
import { createQuarantine, type Quarantine } from './suppress/quarantine.ts';
import { isFailing } from './suppress/standings.ts';
import { createSuspects, type NodeSuspicion } from './suppress/suspects.ts';
import { witnessesOf } from './suppress/witnesses.ts';
import { type Budgets, createBudgets } from './judge/budgets.ts';
import { type Decision, decide, type Memory, type RoundInput } from './judge/decide.ts';
import { type Suppression, type Incident, ownConnectivity, ownNats, ownService } from './judge/incident.ts';
import { createRecentTimes, type RecentTimes, windowMsOf } from './judge/recent-times.ts';
import type { RoundRecord } from './judge/round-record.ts';
import { mergeRecipients, type Recipient } from './judge/recipient.ts';
import type { Target } from './judge/target.ts';
import type { Vote } from './judge/vote.ts';

/** What follows from a round, for its own target and beyond. */
export interface Assessment {
  readonly decision: Decision;
  readonly inMaintenance: boolean;
  /** What has to be stored about ourselves. */
  readonly records: readonly RoundRecord[];
  /** Targets that are to have a round at once, because what they see now would help. */
  readonly ask: readonly string[];
}

/** What is known about all targets together, and its meaning for each: which nodes are trusted, and what is suppressed. */
export interface Assessor {
  readonly recentTimes: RecentTimes;
  readonly budgets: Budgets;
  readonly own: OwnIncidents;
  readonly suppressions: Pick<Suppressions, 'silences' | 'held' | 'heldUntil' | 'isInMaintenance' | 'incidentsChanged'>;
  /** Nodes whose votes do not count in a round at `now`. */
  suspectedIn(votes: readonly Vote[], now: number): ReadonlySet<string>;
  readonly connectivity: Pick<Connectivity, 'isUncertain' | 'returnedAt' | 'lastUpAt'>;
  /** Whether more than a doubt about ourselves holds back an incident at `now`. */
  isExplained(incident: Incident, now: number): boolean;
  /** All targets there are from now on, with what is remembered about them. */
  setTargets(
    targets: readonly Target[],
    memoryOf: (target: string) => Memory,
    maintenance: readonly Maintenance[],
    unknownAfterMs: number | null,
    doubtLimitMs: number,
  ): void;
  /** What was seen of a target counts no more: it is another one now. */
  forget(target: string): void;
  assess(target: Target, memory: Memory, round: RoundInput): Assessment;
  /** Who could tell whether connectivity is lost, while that is in doubt: ask them until it is not. */
  witnesses(): readonly string[];
  /** Whether there are any. */
  wantsWitnesses(): boolean;
  /** Since when our own connectivity is not lost, in milliseconds since the epoch; null while it is. */
  connectedSince(): number | null;
  /** Ends the incidents about nodes that are not among these any more. */
  dropNodesBut(nodes: () => readonly NodeInfo[], now: number): void;
}

/** `open` are our own open incidents; `serviceUrl` is where checks run by now, if that is another service. */
export function createAssessor(open: readonly Incident[], serviceUrl = () => '', between = plainlyBetween): Assessor {
  const recentTimes = createRecentTimes();
  const budgets = createBudgets();
  const quarantine: Quarantine = createQuarantine();
  const connectivity: Connectivity = createConnectivity(between);
  const suppressions = createSuppressions(connectivity, between);
  const wasAway = open.some(({ target }) => target === ownService);
  const service = createServiceAway(() => unknownAfterMs, wasAway, between);
  let unknownAfterMs: number | null = null;
  const suspects = createSuspects(quarantine, between);
  let known: ReadonlySet<string> = new Set();
  // Asked with every round, and the same as long as the target is.
  const hostOfTarget = onceFor(({ spec }: Target) => hostIn(spec.host));
  let recipients: readonly Recipient[] = [];
  const lookAtClock = watchSetBacks([connectivity, suppressions, suspects, service, recentTimes]);
  const own = createOwnIncidents({ open, recipients: () => recipients, heldBy: (now) => suppressions.heldForAll(now) });
  for (const incident of open) restore(incident, suspects, connectivity);

  function forget(target: string): void {
    recentTimes.forget(target);
    quarantine.forget(target);
  }

  // What the round says about ourselves, before it says anything about its target.
  function observe(target: Target, { dueAt, votes }: RoundInput, now: number): void {
    const { name, spec } = target;
    // Who calls us says nothing about what can be seen from here.
    if (isHeardOf(spec)) return;
    const observed = { target: name, host: hostOfTarget(target), dueAt, votes };
    for (const change of suspects.observe(observed, now)) own.nodeChanged(change, now);
    own.nodesAnswered(votes, dueAt, now);
    const away = service.observe(votes, dueAt);
    if (away !== null) own.serviceAway({ url: serviceUrl(), ...away }, now);
    // A service that is away says nothing about what can be reached from here, and neither do nodes that we cannot ask.
    if (service.reason !== null) return;
    if (own.causeOf(ownNats) !== null && votes.every(({ outcome }) => outcome.status === 'unknown')) return;
    const change = connectivity.observe(observed, now);
    if (change !== null) own.connectivityChanged(change, now);
  }

  return {
    recentTimes,
    budgets,
    own,
    suppressions,
    suspectedIn: (votes, now) => suspects.of(votes, now).suspected,
    connectivity,
    isExplained: (incident, now) => isReported(incident.held, own.open) || suppressions.isExplained(incident, now),
    setTargets(targets, memoryOf, maintenance, afterMs, doubtLimitMs) {
      unknownAfterMs = afterMs;
      suspects.limitMs = doubtLimitMs;
      suppressions.setTargets(targets, memoryOf, maintenance);
      recipients = mergeRecipients(targets.flatMap((target) => target.recipients));
      for (const target of targets) {
        recentTimes.keep(target.name, windowMsOf(target));
        budgets.keep(target.name, target.objective);
      }
      const names = namesOf(targets);
      for (const name of known) {
        if (names.has(name)) continue;
        forget(name);
        budgets.keep(name, null);
      }
      known = names;
      const checked = targets.filter(({ spec }) => !isHeardOf(spec));
      const failing = checked
        .filter((target) => isFailing(target, memoryOf(target.name), null))
        .map(({ name }) => name);
      connectivity.targetsChanged(witnessesOf(checked, suppressions.ancestors), new Set(failing));
    },
    forget,
    assess(target, memory, round) {
      const [{ name }, { dueAt }] = [target, round];
      // What is over is taken as it was then.
      const now = round.late === undefined ? round.now : dueAt;
      lookAtClock(round.now);
      const wasUncertain = connectivity.isUncertain;
      observe(target, round, now);
      if (isSteady(connectivity, dueAt) || isHeardOf(target.spec))
        addTimes(recentTimes, name, Math.min(dueAt, round.now), round.votes);
      const decision = decide(target, memory, round, {
        ...suspects.of(round.votes, now),
        recentTimesOf: (node, since) => recentTimes.of(name, node, since),
        budgetAt: (at) => budgets.of(name, at),
        elapsedBetween: between,
        serviceSuppression: serviceSuppression(service.reason, own.causeOf(ownNats)),
        heldBy: (startedAt) => suppressions.heldBy(name, startedAt, now),
        heldAt: (moment) => suppressions.heldAt(name, moment),
      });
      suppressions.remember(target, decision.memory, decision.verdict, dueAt, now);
      return {
        decision,
        inMaintenance: suppressions.isInMaintenance(name, now),
        records: own.review(round.now),
        ask: others(name, [
          wasUncertain && !connectivity.isUncertain ? suppressions.held('connectivity') : noTargets,
          suppressions.unseenAbove(target, decision.memory),
          suppressions.freedBy(name),
        ]),
      };
    },
    dropNodesBut: (nodes, now) => own.dropNodesBut(nodes, now),
    connectedSince: () => (connectivity.isLost ? null : connectivity.returnedAt),
    witnesses: () => connectivity.witnesses(),
    wantsWitnesses: () => connectivity.wantsWitnesses,
  };
}

function restore(
  incident: Incident,
  suspects: Pick<NodeSuspicion, 'restore'>,
  connectivity: Pick<Connectivity, 'restore'>,
): void {
  const node = suspectedNodeOf(incident);
  if (node !== null) suspects.restore(node, incident.startedAt);
  if (incident.target === ownConnectivity) connectivity.restore(incident.startedAt);
}

// What was noted while the clock was ahead would hold up notifications until it reads that again.
function watchSetBacks(parts: readonly { setBack(now: number): void }[]): (now: number) => void {
  let lookedAt = 0;
  return (now) => {
    if (now < lookedAt - clockJitterMs) for (const part of parts) part.setBack(now);
    lookedAt = now;
  };
}

// Whether recipients were notified that the service that runs the checks is away, or NATS is.
function isReported(held: Suppression | null, own: readonly Incident[]): boolean {
  if (held?.by !== 'service') return false;
  return own.some(
    ({ target, held: isHeld, notified }) =>
      (target === ownService || target === ownNats) && isHeld === null && notified?.length !== 0,
  );
}

// Lost packets make the first answers over a returning path slow, whatever the target does. A return that lies far ahead was before
// the clock was set back.
function isSteady({ isLost, returnedAt }: Connectivity, dueAt: number): boolean {
  return !isLost && (dueAt >= returnedAt || dueAt < returnedAt - longestReturnMs);
}

const longestReturnMs = 60_000;

function addTimes(recentTimes: RecentTimes, target: string, at: number, votes: RoundInput['votes']): void {
  for (const { node, outcome } of votes) {
    const { status, seconds } = outcome;
    if (status === 'up' && seconds !== null) recentTimes.add(target, node.name, { at, seconds });
  }
}

const noTargets: readonly string[] = [];

// All of them once, but this one.
function others(name: string, lists: readonly (readonly string[])[]): readonly string[] {
  if (lists.every((list) => list.length === 0)) return noTargets;
  const all = new Set(lists.flat());
  all.delete(name);
  return [...all];
}

const namesOf = (targets: readonly Target[]) => new Set(targets.map(({ name }) => name));

const isHeardOf = ({ type }: CheckSpec) => checkOf(type).heard !== null;

// Why no target can be judged, if that is one reason for all.
function serviceSuppression(serviceAway: string | null, natsLost: string | null): Suppression | null {
  if (serviceAway !== null) return { by: 'service', why: `the check service is away: ${serviceAway}` };
  return natsLost === null ? null : { by: 'service', why: `no node on another machine can be reached: ${natsLost}` };
}
