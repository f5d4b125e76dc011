import { isDeepStrictEqual } from 'node:util';
import { checkOf } from '#checks/index.ts';
import type { ElapsedBetween } from '#kernel/clock-steps.ts';
import type { Delivery } from './delivery.ts';
import { evaluateRule, type Evaluation, type Evidence } from './evaluation.ts';
import { announce, type Consequence, resolve, update } from './incident-life.ts';
import {
  type Suppression,
  type Incident,
  type StatedDoubt,
  type VerdictChange,
  withLaterCause,
  withVerdictChange,
} from './incident.ts';
import type { RoundRecord } from './round-record.ts';
import { newRuleState, type RuleState, step, type Transition } from './rule-state.ts';
import { describeRule } from './rule.ts';
import { isOutage, kindOf } from './rules/index.ts';
import type { NamedRule, Target } from './target.ts';
import { tally, type Verdict } from './verdict.ts';
import type { Vote } from './vote.ts';

/** What the monitor remembers about a target between rounds. */
export interface Memory {
  readonly states: ReadonlyMap<string, RuleState>;
  readonly openIncidents: ReadonlyMap<string, Incident>;
}

export const nothingRemembered: Memory = { states: new Map(), openIncidents: new Map() };

export interface Decision {
  /** The verdict that the target is shown by: of its first rule about outages, or of a majority of the nodes. */
  readonly verdict: Verdict;
  readonly record: RoundRecord;
  readonly memory: Memory;
  /** Whether another round at once would make sure of what this one saw. */
  readonly wantsConfirmation: boolean;
}

export interface RoundInput {
  readonly dueAt: number;
  readonly votes: readonly Vote[];
  /** Wall time at which the decision is made. */
  readonly now: number;
  /** Set if the round was over long ago: why, and from when its consequences may be notified. */
  readonly late?: { readonly why: string; readonly notifyFrom: number } | undefined;
}

/** What else a decision depends on. */
export interface DecisionContext extends Evidence {
  /** What suppresses an incident of this target that began at `startedAt`, or null. */
  heldBy(startedAt: number): Suppression | null;
  /** Why no target can be judged for now, or null: then single targets that cannot be judged are not notified. */
  readonly serviceSuppression: Suppression | null;
  /** How much time went by between two moments, whatever became of the clock. */
  readonly elapsedBetween: ElapsedBetween;
  /** What is in doubt about what this round says, if it counts nevertheless. */
  readonly doubt?: StatedDoubt | undefined;
  /** The suppression that held at a moment in the past, so that what was observed then is not notified; or null. */
  heldAt(moment: number): Suppression | null;
}

/** Everything that follows from a round: new rule states, incidents opened and closed, the deliveries they cause. Pure. */
export function decide(target: Target, memory: Memory, round: RoundInput, around: DecisionContext): Decision {
  // Most rounds change nothing: then the memory stays as it is.
  let { states, openIncidents: open } = memory;
  const changed: RuleState[] = [];
  const incidents: Incident[] = [];
  const deliveries: Delivery[] = [];
  let shown: Verdict | null = null;
  let isOut = false;
  let isUndecided: boolean | null = null;
  let wantsConfirmation = false;

  for (const named of outagesFirst(target.rules)) {
    // What was unknown at that time was unknown then, whatever is known of it now.
    if (round.late !== undefined && kindOf(named.rule.kind).isAboutNodes === true) continue;
    const before = states.get(named.name) ?? newRuleState(target.name, named.name);
    const evaluated = evaluateRule(named.rule, before, target.spec, round, around);
    const judged = withVerdictOf(named, evaluated, isUndecided);
    const { state: stepped, transition } = step(named.rule, before, judged.verdict, round.dueAt, around.elapsedBetween);
    const state = judged.noted === before.noted ? stepped : { ...stepped, noted: judged.noted };
    if (state !== before) {
      states = new Map(states).set(named.name, state);
      changed.push(state);
    }
    const known = before.incidentId === null ? undefined : open.get(before.incidentId);
    const explained = explanationOf(named, isOut, around);
    const after = follow({ target, named, judged, transition, round, known, explained, around });
    if (after !== null) {
      incidents.push(after.incident);
      deliveries.push(...after.deliveries);
      open = withIncident(open, after.incident);
    }
    if (isOutage(named.rule)) {
      shown ??= judged.verdict;
      isUndecided = isUndecided === true || isWithoutVotes(judged.verdict);
      isOut ||= state.incidentId !== null || state.window.length > 0;
    }
    const isUnnotified = state.incidentId === null || after?.incident.held?.cleared !== undefined;
    wantsConfirmation ||=
      isUnnotified && named.rule.confirm && named.rule.rounds.bad > 1 && judged.verdict.failing === true;
  }
  return {
    verdict: shown ?? tally(round.votes, { kind: 'majority' }),
    record: { target: target.name, dueAt: round.dueAt, votes: round.votes, states: changed, incidents, deliveries },
    memory: states === memory.states && open === memory.openIncidents ? memory : { states, openIncidents: open },
    wantsConfirmation,
  };
}

const outage: Suppression = { by: 'outage', why: 'the target is down' };

// Whether a target is down decides about its other notifications.
function outagesFirst(rules: readonly NamedRule[]): readonly NamedRule[] {
  if (rules.length < 2) return rules;
  return [...rules.filter(({ rule }) => isOutage(rule)), ...rules.filter(({ rule }) => !isOutage(rule))];
}

// Too few nodes could judge the target.
const isWithoutVotes = ({ reason }: Verdict) => reason === 'no_quorum' || reason === 'no_votes';

// Whether nodes can judge the target shows in its rules about outages: their quorum may be any number of nodes.
function withVerdictOf({ rule }: NamedRule, evaluated: Evaluation, isUndecided: boolean | null): Evaluation {
  const { verdict } = evaluated;
  if (kindOf(rule.kind).isAboutNodes !== true || isUndecided === null || verdict.failing === true) return evaluated;
  if (isUndecided) {
    const cause = () => (verdict.down > 0 ? evaluated.cause() : causeOfMissing(verdict));
    return { ...evaluated, cause, verdict: { ...verdict, status: 'down', reason: 'threshold_met', failing: true } };
  }
  if (verdict.reason === 'tie')
    return { ...evaluated, verdict: { ...verdict, reason: 'below_threshold', failing: false } };
  return evaluated;
}

// All nodes that there are could judge the target, but one that is suspected does not count, or there are too few.
function causeOfMissing({ unknown }: Verdict): string {
  return unknown > 0 ? 'its rule needs the vote of a suspected node' : 'there are fewer nodes than its rule needs';
}

// What suppresses this rule now, whatever else holds.
function explanationOf(
  { rule }: NamedRule,
  isOut: boolean,
  { serviceSuppression }: DecisionContext,
): Suppression | null {
  if (isOut && !isOutage(rule)) return outage;
  return kindOf(rule.kind).isAboutNodes === true ? serviceSuppression : null;
}

function withIncident(open: Memory['openIncidents'], incident: Incident): Memory['openIncidents'] {
  const next = new Map(open);
  if (incident.endedAt === null) next.set(incident.id, incident);
  else next.delete(incident.id);
  return next;
}

interface RuleStep {
  readonly target: Target;
  readonly named: NamedRule;
  readonly judged: Evaluation;
  readonly transition: Transition | null;
  readonly round: RoundInput;
  /** The incident that was open before the round. */
  readonly known: Incident | undefined;
  readonly explained: Suppression | null;
  readonly around: DecisionContext;
}

function follow(followed: RuleStep): Consequence | null {
  const { target, named, judged, transition, round, known, explained, around } = followed;
  if (transition?.kind !== 'open' && known === undefined) return null;
  const heldBy = (startedAt: number) => explained ?? around.heldBy(startedAt);
  const heldAt = (moment: number) => around.heldAt(moment);
  if (transition?.kind === 'open') {
    const opened = openIncident(target, named, judged, transition, round);
    const incident = around.doubt === undefined ? opened : { ...opened, doubt: around.doubt };
    const held = heldBy(incident.startedAt) ?? heldBefore(transition.failedAt, heldAt);
    if (held !== null) return { incident: { ...incident, held }, deliveries: [] };
    return announce(incident, target.recipients, notifyAt(round), round.late?.why);
  }
  if (known === undefined) return null;
  const timeline = withVerdictChange(known.timeline, timingOf(judged.verdict, round.dueAt));
  const incident = timeline === known.timeline ? known : { ...known, timeline };
  if (transition?.kind === 'close') {
    const ended = { endedAt: transition.endedAt, closingVotes: judged.lines() };
    return resolve(incident, ended, target.recipients, notifyAt(round));
  }
  if (incident.held !== null && judged.verdict.failing === true && incident.acknowledged === null) {
    const next = heldBy(incident.startedAt) ?? stillHeld(incident.held, named.rule, round.dueAt, heldAt);
    const held = next === null || incident.held.since === undefined ? next : { ...next, since: incident.held.since };
    if (held === null) return announce(withCurrentVotes(incident, judged), target.recipients, notifyAt(round));
    if (!isDeepStrictEqual(held, incident.held)) return { incident: { ...incident, held }, deliveries: [] };
  }
  const otherwise = isNotifiedOfCauses(target, named, judged, incident)
    ? withLaterCause(incident, judged.lines(), round.dueAt)
    : null;
  if (otherwise !== null) return update(otherwise, target.recipients, notifyAt(round));
  return incident === known ? null : { incident, deliveries: [] };
}

// What nodes see of an outage goes to and fro. What a target says by itself is news: late is not the same as killed.
function isNotifiedOfCauses(
  { spec }: Target,
  { rule }: NamedRule,
  { verdict }: Evaluation,
  { held }: Incident,
): boolean {
  return held === null && verdict.failing === true && isOutage(rule) && checkOf(spec.type).heard !== null;
}

const notifyAt = ({ late, now }: RoundInput) => late?.notifyFrom ?? now;

// Rounds that failed while there was a reason say nothing by themselves: the rule has to come true by others.
function heldBefore(failedAt: readonly number[], heldAt: DecisionContext['heldAt']): Suppression | null {
  const reasons = failedAt.map(heldAt);
  const last = reasons.findLast((reason) => reason !== null) ?? null;
  const since = failedAt.filter((_, index) => reasons[index] === null);
  if (last === null || since[0] === undefined) return last;
  return { ...last, cleared: { since: since[0], rounds: since.length } };
}

/** What suppresses an incident once its reason has gone, after another failing round; null if it is to be notified now. */
function stillHeld(
  held: Suppression,
  rule: NamedRule['rule'],
  dueAt: number,
  heldAt: DecisionContext['heldAt'],
): Suppression | null {
  if (held.untilLook === true) return null;
  if (heldAt(dueAt) !== null) return held;
  const cleared = { since: held.cleared?.since ?? dueAt, rounds: (held.cleared?.rounds ?? 0) + 1 };
  return cleared.rounds >= rule.rounds.bad ? null : { ...held, cleared };
}

// What was seen while our own connectivity was lost says nothing about the target, and neither does the time.
function withCurrentVotes(incident: Incident, judged: Evaluation): Incident {
  const votes = judged.lines();
  const { held, startedAt } = incident;
  const since = held?.by === 'connectivity' ? (held.cleared?.since ?? startedAt) : startedAt;
  return { ...incident, votes, cause: judged.cause(), startedAt: since };
}

function openIncident(
  target: Target,
  { name, rule }: NamedRule,
  judged: Evaluation,
  { incidentId, startedAt }: Extract<Transition, { kind: 'open' }>,
  { dueAt }: RoundInput,
): Incident {
  const votes = judged.lines();
  return {
    id: incidentId,
    target: target.name,
    rule: name,
    severity: rule.severity,
    wording: kindOf(rule.kind).wording,
    subject: `${target.spec.type} ${target.spec.host}`,
    labels: target.labels,
    condition: describeRule(rule, checkOf(target.spec.type)),
    startedAt,
    openedAt: dueAt,
    endedAt: null,
    closing: null,
    cause: judged.cause(),
    laterCauses: [],
    votes,
    closingVotes: null,
    timeline: [timingOf(judged.verdict, dueAt)],
    held: null,
    notified: [],
    lateReason: null,
    acknowledged: null,
  };
}

function timingOf({ status, up, down, unknown }: Verdict, at: number): VerdictChange {
  return { at, status, up, down, unknown };
}
