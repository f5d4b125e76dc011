import type { Delivery, DeliveryKind } from './delivery.ts';
import { commonestCause, type Incident, voteTable } from './incident.ts';
import type { RoundRecord, Vote } from './ports.ts';
import { describeRule, type RuleState, newRuleState, step, type Transition } from './rule.ts';
import type { NamedRule, Recipient, Target } from './target.ts';
import { tally, type Verdict } from './verdict.ts';

/** What the monitor remembers about a target between rounds. */
export interface Memory {
  readonly states: ReadonlyMap<string, RuleState>;
  readonly openIncidents: ReadonlyMap<string, Incident>;
}

export interface Decision {
  /** The verdict of the target's first rule: what the target is shown as. */
  readonly verdict: Verdict;
  readonly record: RoundRecord;
  readonly memory: Memory;
}

export interface Round {
  readonly dueAt: number;
  readonly votes: readonly Vote[];
  /** Wall time at which the decision is made. */
  readonly now: number;
}

/** Everything that follows from a round: new rule states, incidents opened and closed, the deliveries they cause. Pure. */
export function decide(target: Target, memory: Memory, round: Round): Decision {
  const states = new Map(memory.states);
  const openIncidents = new Map(memory.openIncidents);
  const changed: RuleState[] = [];
  const incidents: Incident[] = [];
  const deliveries: Delivery[] = [];
  let shown: Verdict | null = null;

  for (const named of target.rules) {
    const verdict = tally(round.votes, named.rule.failing, named.rule.quorum);
    shown ??= verdict;
    const before = states.get(named.name) ?? newRuleState(target.name, named.name);
    const { state, transition } = step(named.rule, before, verdict, round.dueAt);
    if (state !== before) {
      states.set(named.name, state);
      changed.push(state);
    }
    const incident = applyTransition(target, named, transition, round, before.incidentId, openIncidents);
    if (incident === null) continue;
    incidents.push(incident);
    const kind = incident.endedAt === null ? 'opened' : 'resolved';
    const told = target.recipients.filter(({ severities }) => severities.includes(incident.severity));
    deliveries.push(...told.map((recipient) => newDelivery(incident, kind, recipient, round.now)));
  }
  return {
    verdict: shown ?? tally(round.votes, { kind: 'majority' }),
    record: { target: target.name, dueAt: round.dueAt, votes: round.votes, states: changed, incidents, deliveries },
    memory: { states, openIncidents },
  };
}

function applyTransition(
  target: Target,
  named: NamedRule,
  transition: Transition | null,
  round: Round,
  openId: string | null,
  openIncidents: Map<string, Incident>,
): Incident | null {
  if (transition === null) return null;
  const votes = voteTable(round.votes);
  if (transition.kind === 'open') {
    const incident: Incident = {
      id: transition.incidentId,
      target: target.name,
      rule: named.name,
      severity: named.rule.severity,
      subject: `${target.spec.type} ${target.spec.host}`,
      condition: describeRule(named.rule),
      startedAt: transition.startedAt,
      openedAt: round.dueAt,
      endedAt: null,
      cause: commonestCause(votes),
      votes,
      closingVotes: null,
    };
    openIncidents.set(incident.id, incident);
    return incident;
  }
  const open = openId === null ? undefined : openIncidents.get(openId);
  if (open === undefined) return null;
  openIncidents.delete(open.id);
  return { ...open, endedAt: transition.endedAt, closingVotes: votes };
}

function newDelivery(incident: Incident, kind: DeliveryKind, to: Recipient, now: number): Delivery {
  return {
    id: 0,
    incidentId: incident.id,
    kind,
    number: 1,
    channel: to.channel,
    recipient: to.recipient,
    createdAt: now,
    nextAttemptAt: now,
    attempts: 0,
    lastError: null,
  };
}
