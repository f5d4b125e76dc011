import type { NodeInfo } from '#checks/index.ts';
import { announce, type Consequence, resolve, unwatch } from '../judge/incident-life.ts';
import {
  type Suppression,
  type Incident,
  ownAbsentNode,
  ownBacklog,
  ownConnectivity,
  ownNode,
  ownService,
} from '../judge/incident.ts';
import {
  type NodeAbsence,
  absenceIncident,
  backlogIncident,
  connectivityIncident,
  nodeIncident,
  serviceIncident,
  type Trouble,
  troubleIncident,
  type UnjudgedRounds,
} from './own-incident-kinds.ts';
import type { RoundRecord } from '../judge/round-record.ts';
import type { Recipient } from '../judge/recipient.ts';
import type { Vote } from '../judge/vote.ts';
import type { ConnectivityChange } from './connectivity.ts';
import type { TrustChange } from './quarantine.ts';

/** The node that an incident of ours is about, or null. */
export function suspectedNodeOf({ target }: Incident): string | null {
  return target.startsWith(ownNode) ? target.slice(ownNode.length) : null;
}

export interface OwnIncidents {
  nodeAbsent(absence: NodeAbsence, now: number): void;
  /** Ends the absence of nodes that have an answer again, in a round that was due at `dueAt`. */
  nodesAnswered(votes: readonly Vote[], dueAt: number, now: number): void;
  nodeChanged(change: TrustChange, now: number): void;
  /** The service that runs the checks has been away since `since`, or (without a reason) is back since then. */
  serviceAway(
    away: { readonly url: string; readonly since: number; readonly reason: string | null },
    now: number,
  ): void;
  connectivityChanged(change: ConnectivityChange, now: number): void;
  troubled(trouble: Trouble, now: number): void;
  /** Rounds were stored that are too old to be judged: notified as an incident that is over. */
  unjudged(unjudged: UnjudgedRounds, now: number): void;
  /** Opens what has lasted long enough, and notifies what is not suppressed any more. Gives what has to be stored. */
  review(now: number): readonly RoundRecord[];
  /** Notifies an incident now if it is open, for this reason. */
  notify(id: string, why: string, now: number): void;
  acknowledge(id: string, acknowledged: NonNullable<Incident['acknowledged']>): RoundRecord | null;
  /** Ends the incidents about nodes that are not among these any more. */
  dropNodesBut(nodes: () => readonly NodeInfo[], now: number): void;
  readonly open: readonly Incident[];
  /** Why something of our own does not work, if an incident of this name is open; or null. */
  causeOf(target: string): string | null;
}

export interface OwnIncidentsOptions {
  readonly open: readonly Incident[];
  /** All recipients of any target. */
  readonly recipients: () => readonly Recipient[];
  /** What suppresses all notifications at a moment, or null. */
  readonly heldBy: (now: number) => Suppression | null;
}

// A node that cannot be believed for moments only is not worth a mail.
const reportAfterMs = 60_000;
// One round has no duration.
const shortestGapMs = 1_000;

const nothing: readonly RoundRecord[] = [];

function recordOf({ incident, deliveries }: Consequence, dueAt: number): RoundRecord {
  return { target: incident.target, dueAt, votes: [], states: [], incidents: [incident], deliveries };
}

export function createOwnIncidents({ open, recipients, heldBy }: OwnIncidentsOptions): OwnIncidents {
  const incidents = new Map(open.map((incident) => [incident.target, incident]));
  const unreported = new Map<string, { readonly change: TrustChange; readonly at: number }>();
  const records: RoundRecord[] = [];

  function note({ incident, deliveries }: Consequence, now: number): void {
    if (incident.endedAt === null) incidents.set(incident.target, incident);
    else incidents.delete(incident.target);
    records.push(recordOf({ incident, deliveries }, now));
  }

  function begin(incident: Incident, now: number): void {
    const held = heldBy(now);
    if (held === null) note(announce(incident, recipients(), now), now);
    else note({ incident: { ...incident, held }, deliveries: [] }, now);
  }

  function end(target: string, endedAt: number, now: number): void {
    const known = incidents.get(target);
    if (known === undefined) return;
    // The news of its end may be older than its beginning.
    const at = endedAt > known.startedAt ? endedAt : now;
    note(resolve(known, { endedAt: at, closingVotes: null }, recipients(), now), now);
  }

  function forget(target: string, now: number): void {
    const known = incidents.get(target);
    if (known !== undefined) note(unwatch(known, recipients(), now), now);
  }

  return {
    notify(id, why, now) {
      for (const known of incidents.values()) if (known.id === id) note(announce(known, recipients(), now, why), now);
    },
    nodeAbsent({ node, since, reason }, now) {
      if (reason === null) end(ownAbsentNode + node.name, since, now);
      else if (!incidents.has(ownAbsentNode + node.name)) begin(absenceIncident(node, since, reason, now), now);
    },
    nodesAnswered(votes, dueAt, now) {
      if (incidents.size === 0) return;
      for (const { node, outcome } of votes)
        if (outcome.status !== 'unknown') end(ownAbsentNode + node.name, dueAt, now);
    },
    nodeChanged(change, now) {
      const { name } = change.node;
      if (change.kind === 'suspected') unreported.set(name, { change, at: now });
      else if (!unreported.delete(name)) end(ownNode + name, change.since, now);
    },
    serviceAway({ url, since, reason }, now) {
      if (reason === null) end(ownService, since, now);
      else if (!incidents.has(ownService)) begin(serviceIncident(url, since, reason, now), now);
    },
    troubled(trouble, now) {
      if (trouble.isGone === true) forget(trouble.name, now);
      else if (trouble.reason === null) end(trouble.name, trouble.since, now);
      else if (!incidents.has(trouble.name)) begin(troubleIncident(trouble, trouble.reason, now), now);
    },
    unjudged(unjudged, now) {
      const begun = announce(
        backlogIncident(unjudged, now),
        recipients(),
        now,
        'the monitor was away when it happened',
      );
      note(begun, now);
      end(ownBacklog, Math.max(unjudged.until, unjudged.from + shortestGapMs), now);
    },
    connectivityChanged(change, now) {
      if (change.kind === 'lost') begin(connectivityIncident(change, now), now);
      else end(ownConnectivity, change.at, now);
    },
    review(now) {
      if (unreported.size + incidents.size + records.length === 0) return nothing;
      for (const [node, { change, at }] of unreported) {
        // What lies further ahead was before the clock was set back.
        if (Math.abs(now - at) < reportAfterMs) continue;
        unreported.delete(node);
        begin(nodeIncident(change, now), now);
      }
      for (const incident of incidents.values()) {
        if (incident.held === null || incident.acknowledged !== null || heldBy(now) !== null) continue;
        note(announce(incident, recipients(), now), now);
      }
      return records.splice(0);
    },
    acknowledge(id, acknowledged) {
      const known = [...incidents.values()].find((incident) => incident.id === id);
      if (known === undefined) return null;
      const incident = { ...known, acknowledged };
      incidents.set(incident.target, incident);
      return recordOf({ incident, deliveries: [] }, acknowledged.at);
    },
    dropNodesBut(nodes, now) {
      const suspected = [...incidents.values()].flatMap((incident) => suspectedNodeOf(incident) ?? []);
      const names = new Set(suspected.length === 0 ? [] : nodes().map(({ name }) => name));
      for (const node of suspected) {
        if (names.has(node)) continue;
        unreported.delete(node);
        forget(ownNode + node, now);
      }
    },
    get open() {
      return [...incidents.values()];
    },
    causeOf: (target) => incidents.get(target)?.cause ?? null,
  };
}
