import { type EvidenceGathering, gatheringsOf } from '#history/evidence.ts';
import type { IncidentDetail, PastDelivery } from '#history/incidents.ts';
import { isAboutUs } from '#monitor/judge/incident.ts';
import type { ShownState } from '../state/shown.ts';
import { countVotes } from './target-texts.ts';
import { evidenceTexts } from './evidence-texts.ts';
import { texts } from './texts.ts';

/** One line of an incident's timeline. */
export interface TimelineEntry {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** The verdict from here on; null if the entry is about something else. */
  readonly state: ShownState | null;
  readonly words: string;
  /** Text from outside, such as a cause or a reason; null if there is none. */
  readonly detail: string | null;
}

/** Everything that happened in an incident, oldest first: rounds, verdicts, causes, suppression, notifications, acknowledgement, end. */
export function timelineOf(incident: IncidentDetail): readonly TimelineEntry[] {
  const { timeline, laterCauses, startedAt, openedAt, endedAt, closing, held, acknowledged, cause } = incident;
  const words = texts.incident;
  const isOwn = isAboutUs(incident.target);
  const entry = (at: number, text: string, detail: string | null = null): TimelineEntry => ({
    at,
    state: null,
    words: text,
    detail,
  });
  const end =
    closing === null || closing === 'recovered'
      ? isOwn
        ? words.ownFirstGood
        : words.firstGood
      : words.closed[closing];
  return [
    entry(startedAt, isOwn ? words.ownFirstFailing : words.firstFailing, cause),
    entry(openedAt, held === null ? words.openedNow : words.openedHeld, held),
    ...timeline.map(({ at, status, ...counts }) => ({ at, state: status, words: countVotes(counts), detail: null })),
    ...laterCauses.map((later) => entry(later.at, words.nowBecause, later.cause)),
    ...(acknowledged === null ? [] : [entry(acknowledged.at, words.acknowledgedBy, acknowledged.why)]),
    ...gatheringsOf(incident.evidence).map(gathered),
    ...notified(incident),
    ...(endedAt === null ? [] : [entry(endedAt, end)]),
  ].toSorted((a, b) => a.at - b.at);
}

function gathered({ at, parts, conclusions }: EvidenceGathering): TimelineEntry {
  const nodes = parts.flatMap(({ node, document }) => (document === null ? [] : [node]));
  const said = conclusions.map(({ text }) => text);
  const notes = nodes.length > 0 ? [] : parts.flatMap(({ note }) => note ?? []);
  const [detail = null] = [...said, ...notes];
  return { at, state: null, words: evidenceTexts.gatheredAt(nodes.join(', ')), detail };
}

// Recipients of one kind of message within a second share a line.
function notified({ deliveries }: IncidentDetail): readonly TimelineEntry[] {
  const done = deliveries.filter((one) => one.settledAt !== null && (one.state === 'sent' || one.state === 'dead'));
  const groups = Map.groupBy(done, ({ state, kind, number, settledAt, lastError }) =>
    JSON.stringify([state, kind, number, Math.floor((settledAt ?? 0) / 1_000), state === 'dead' ? lastError : null]),
  );
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const { state, kind, number, settledAt, lastError } = first;
    const who = group.map(({ recipient, channel }) => `${recipient} (${channel})`).join(', ');
    const words = state === 'sent' ? texts.incident.sent(kind, number, who) : texts.incident.notSent(kind, number, who);
    return [{ at: settledAt ?? 0, state: null, words, detail: state === 'sent' ? null : lastError }];
  });
}

/** Whether a reminder was planned and then had nothing to remind of. */
export function isNeedless({ kind, state, settledAt }: PastDelivery, endedAt: number | null): boolean {
  return kind === 'reminder' && state === 'merged' && endedAt !== null && (settledAt ?? 0) >= endedAt;
}
