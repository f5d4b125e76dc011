import type { NodeInfo } from '#checks/index.ts';
import { countOf, singleLine } from '#kernel/text.ts';
import {
  type Incident,
  ownAbsentNode,
  ownBacklog,
  ownBudget,
  ownClock,
  ownConnectivity,
  ownDatabase,
  ownHub,
  ownLeader,
  ownNats,
  ownNode,
  ownNodeOverload,
  ownOverload,
  ownService,
} from '../judge/incident.ts';
import { incidentIdOf } from '../judge/rule-state.ts';
import type { ConnectivityChange } from './connectivity.ts';
import {
  absence,
  clockSet,
  degraded,
  leaderless,
  loss,
  overloaded,
  suspicion,
  unjudged,
  throttled,
  unreachable,
  unwritable,
} from './own-incident-wordings.ts';
import type { TrustChange } from './quarantine.ts';

// The wording of our own incidents. Sentences begin with their subjects: "The database watchpost.db cannot be written".

/** A node that is offline since `since`, or is back since then: then there is no reason. */
export interface NodeAbsence {
  readonly node: NodeInfo;
  readonly since: number;
  readonly reason: string | null;
}

/** Something of our own that has not worked since `since`, or works again: then there is no reason. */
export interface Trouble {
  readonly name:
    | typeof ownDatabase
    | typeof ownNats
    | typeof ownOverload
    | typeof ownBudget
    | typeof ownNodeOverload
    | typeof ownClock
    | typeof ownLeader
    | `${typeof ownHub}${string}`;
  /** Which one it is: the path of a file, a URL, the name of a hub. */
  readonly which: string;
  readonly since: number;
  readonly reason: string | null;
  /** Whether there is none any more: that is neither its trouble nor its return. */
  readonly isGone?: boolean;
}

/** Rounds of a time in which this program was away, which are stored without being judged, by the due times of the first and the last. */
export interface UnjudgedRounds {
  readonly from: number;
  readonly until: number;
  readonly targets: number;
  readonly dropped?: readonly { readonly node: string; readonly count: number }[];
}

export function nodeIncident({ node, since, targets }: TrustChange, now: number): Incident {
  return opened(now, {
    target: ownNode + node.name,
    rule: 'suspected',
    severity: 'warning',
    wording: suspicion,
    subject: subjectOf(node),
    condition: 'sees its targets down while most other nodes see them up; its votes do not count until it agrees again',
    startedAt: since,
    cause: `it sees ${namesOf(targets)} down, other nodes see them up`,
  });
}

export function absenceIncident(node: NodeInfo, since: number, reason: string, now: number): Incident {
  return opened(now, {
    target: ownAbsentNode + node.name,
    rule: 'absent',
    severity: 'warning',
    wording: absence,
    subject: subjectOf(node),
    condition: 'has been offline for long; its votes are unknown until it is back',
    startedAt: since,
    cause: singleLine(reason),
  });
}

export function serviceIncident(url: string, since: number, reason: string, now: number): Incident {
  return opened(now, {
    target: ownService,
    rule: 'away',
    severity: 'warning',
    wording: unreachable,
    subject: `the check service ${singleLine(url, 200)}`,
    condition: 'no check could be run there for long; its targets are unknown until it is back',
    startedAt: since,
    cause: singleLine(reason),
  });
}

export function connectivityIncident(
  { since, targets, sawDown }: Extract<ConnectivityChange, { kind: 'lost' }>,
  now: number,
): Incident {
  return opened(now, {
    target: ownConnectivity,
    rule: 'connectivity',
    severity: 'critical',
    wording: loss,
    subject: 'the network connectivity of every node',
    condition:
      'no node sees any target up; what is down is notified when others are seen up again, or with this doubt after some minutes',
    startedAt: since,
    cause: sawDown ? `every node sees everything down: ${namesOf(targets)}` : 'no node can check anything',
  });
}

export function backlogIncident({ from, targets, dropped = [] }: UnjudgedRounds, now: number): Incident {
  const lost = dropped.map(({ node, count }) => `${singleLine(node)} dropped ${countOf(count, 'result')}`).join(', ');
  const late = targets === 0 ? '' : `what was seen of ${countOf(targets, 'target')} came too late to be judged`;
  return opened(now, {
    target: ownBacklog,
    rule: 'unjudged',
    severity: 'warning',
    wording: unjudged,
    subject: 'Watchpost',
    condition: `${late === '' ? 'what a node could not keep is not in the history' : 'what nodes saw while the monitor was away could not be judged within a minute of the start; it is in the history'}, and what began and ended then is not notified`,
    startedAt: from,
    cause: [late, lost].filter(Boolean).join('; '),
  });
}

const troubles = {
  [ownDatabase]: {
    rule: 'storage',
    severity: 'critical',
    wording: unwritable,
    what: 'the database',
    condition:
      'nothing can be stored; notifications are sent from memory, and what is not stored when the program ends is lost',
  },
  [ownNats]: {
    rule: 'connection',
    severity: 'critical',
    wording: loss,
    what: 'the connection to NATS at',
    condition: 'no node on another machine can be reached; what they alone could see is unknown until it is back',
  },
  [ownOverload]: {
    rule: 'overload',
    severity: 'warning',
    wording: overloaded,
    what: '',
    condition:
      'more results come in than this machine can judge: some of targets that are up are left out, outages are still reported; raise "every", or give it more processor time',
  },
  [ownBudget]: {
    rule: 'budget',
    severity: 'warning',
    wording: throttled,
    what: '',
    condition:
      'a node sends more than the hub reads of one node, and has to send it again later; its votes may come too late to count; other nodes are not affected; look at what runs with its key',
  },
  [ownNodeOverload]: {
    rule: 'node_overload',
    severity: 'warning',
    wording: overloaded,
    what: 'node',
    condition:
      'a node checks its targets less often than configured, and an outage that it alone sees is noticed later; raise "every", give it fewer targets, or more processor time',
  },
  [ownClock]: {
    rule: 'clock',
    severity: 'warning',
    wording: clockSet,
    what: 'the clock',
    condition:
      'times in the history follow the clock of this machine; nothing is deleted because it was set; see to its time synchronisation (NTP)',
  },
  [ownLeader]: {
    rule: 'leader',
    severity: 'critical',
    wording: leaderless,
    what: 'hub',
    condition:
      'no hub leads as far as this one can see: unless another one leads that it cannot reach, nothing is judged and no outage is notified',
  },
  [ownHub]: {
    rule: 'hub',
    severity: 'warning',
    wording: degraded,
    what: 'hub',
    condition: 'it may not be able to take over as the leader; targets are watched as usual; watchpost hubs shows more',
  },
} as const;

const templateOf = (name: Trouble['name']) => troubles[isOfHub(name) ? ownHub : name];
const isOfHub = (name: Trouble['name']): name is `${typeof ownHub}${string}` => name.startsWith(ownHub);

export function troubleIncident({ name, which, since }: Trouble, reason: string, now: number): Incident {
  const { rule, severity, wording, what, condition } = templateOf(name);
  return opened(now, {
    target: name,
    rule,
    severity,
    wording,
    subject: singleLine(`${what} ${which}`, 220),
    condition,
    startedAt: since,
    cause: singleLine(reason),
  });
}

type OwnIncidentTemplate = Pick<
  Incident,
  'target' | 'rule' | 'severity' | 'wording' | 'subject' | 'condition' | 'startedAt' | 'cause'
>;

function opened(now: number, template: OwnIncidentTemplate): Incident {
  return { ...common, ...template, id: incidentIdOf(template.target, template.rule, now), openedAt: now };
}

const common = {
  endedAt: null,
  closing: null,
  votes: [],
  closingVotes: null,
  timeline: [],
  labels: {},
  held: null,
  notified: [],
  lateReason: null,
  laterCauses: [],
  acknowledged: null,
} as const;

function subjectOf({ name, city }: NodeInfo): string {
  return `node ${name}${city === '' ? '' : ` in ${city}`}`;
}

const mostNamed = 5;

function namesOf(targets: readonly string[]): string {
  const named = targets.slice(0, mostNamed).join(', ');
  const more = targets.length - mostNamed;
  return singleLine(more > 0 ? `${named} and ${more} more` : named);
}
