import type { PendingDelivery } from '../judge/delivery.ts';
import type { Severity } from '../judge/rule.ts';
import { severities } from '../judge/rules/kind.ts';
import { type DeliveryPolicy, nextSlot } from './delivery-policy.ts';
import { type MessagePart, messagePartOf, phaseOf } from './message-part.ts';
import { timingOf } from './timing.ts';

/** What is unsettled for one recipient, and what went out to it before, oldest first. */
export interface RecipientQueue {
  readonly rows: readonly PendingDelivery[];
  readonly sent: readonly SentBefore[];
  /** Set if the other side asked not to be called for a time. */
  readonly requestedPause?: RequestedPause | undefined;
}

/** Until when the other side is not called, in milliseconds since the epoch; for something urgent it is called sooner. */
export interface RequestedPause {
  readonly until: number;
  readonly urgentUntil: number;
}

/** A message that went out; `sort` says what may not follow it too soon. */
export interface SentBefore {
  readonly sort: string;
  readonly severity: Severity;
  readonly at: number;
}

/** What to do next for one recipient. The reason is for logs and tests. */
export type NextMessage =
  | {
      readonly kind: 'send';
      readonly reason: 'repeat' | 'alone' | 'group' | 'digest';
      readonly parts: MessageParts;
      readonly message: string | null;
    }
  /** Nothing is left to notify about these. */
  | { readonly kind: 'drop'; readonly reason: 'over'; readonly rows: readonly PendingDelivery[] }
  | {
      readonly kind: 'wait';
      readonly reason: 'backoff' | 'company' | 'interval' | 'storm' | 'escalation' | 'hours' | 'nothing';
      readonly until: number;
    };

// The end of an incident waits no longer than this for its beginning to be repeated.
const longRepeatMs = 60_000;
// As often as messages go in a storm if nothing is grouped.
const shortestPauseMs = 30_000;
/** How often a group that is refused for good is halved. */
export const mostHalvings = 6;

export type MessageParts = readonly [MessagePart, ...MessagePart[]];

interface MessageGroup {
  readonly parts: MessageParts;
  readonly reason: 'backoff' | 'company' | 'interval';
  readonly at: number;
}

/**
 * Decides what a recipient gets next. Pure. In this order:
 *  1. A message that was chosen before and may have arrived is repeated as it was, and whatever else its incidents have waits;
 *     but for the end of an incident, which does not wait for the repetition of its beginning: one message tells both.
 *  2. What the recipient is to hear later only, or never, is left aside.
 *  3. The rest is grouped: by severity, and by whether incidents begin, go on or are over.
 *  4. A group goes when its first part has waited for company; but for critical beginnings, not within the interval after the last of its sort.
 *     The end of an earlier incident of a target goes before the beginning of the next one.
 *  5. Nothing goes before the time that the other side asked for, but what an operator retries.
 *  6. After too many messages of its severity, the next one has to wait, and then covers everything; a critical beginning goes out at once, with everything.
 */
export function nextMessage(
  { rows, sent, requestedPause }: RecipientQueue,
  policy: DeliveryPolicy,
  now: number,
): NextMessage {
  const chosen = chosenBefore(rows, requestedPause, now);
  if (chosen.due !== null) return chosen.due;
  const taken = new Set(chosen.incidents);
  const open = byIncident(rows.filter(({ delivery }) => !taken.has(delivery.incidentId)));
  const timesOf = ({ incident }: PendingDelivery) => policy.timingFor?.(incident.target) ?? policy;
  const left = open.map((own) => ({ own, part: messagePartOf(own), timing: timingOf(own, timesOf(own[0]), now) }));
  const over = left.filter(({ part, timing }) => part === null || timing.kind === 'never').flatMap(({ own }) => own);
  if (over.length > 0) return { kind: 'drop', reason: 'over', rows: over };

  const parts = left.flatMap(({ part, timing }) =>
    part === null || timing.kind !== 'now' || !isIncluded(part, now) ? [] : [part],
  );
  const later = left
    .flatMap(({ timing }) => (timing.kind === 'later' ? [timing] : []))
    .toSorted((a, b) => a.until - b.until)[0];
  const groups = endsFirst(groupsOf(parts, policy, sent, now))
    .map((group) => afterPause(group, requestedPause))
    .map((group) => afterStorm(group, policy, sent));
  const next = groups.toSorted((a, b) => a.at - b.at)[0];
  const laterAt = Math.min(chosen.nextAt, later?.until ?? Number.POSITIVE_INFINITY);
  const waits = [laterAt, ...rows.map(({ delivery }) => delivery.nextAttemptAt).filter((at) => at > now)];
  if (next === undefined) return { kind: 'wait', reason: later?.reason ?? 'nothing', until: Math.min(...waits) };
  if (next.at > now) return { kind: 'wait', reason: next.reason, until: Math.min(next.at, laterAt) };
  const isApart = next.parts.some(wasRefused);
  const [first, ...rest] = next.isStorm && !isApart ? parts.filter((part) => !wasRefused(part)) : next.parts;
  if (first === undefined) return { kind: 'wait', reason: 'nothing', until: now };
  const reason = rest.length === 0 ? 'alone' : next.isStorm ? 'digest' : 'group';
  return { kind: 'send', reason, parts: [first, ...rest], message: null };
}

interface ScheduledGroup extends Omit<MessageGroup, 'reason'> {
  readonly reason: MessageGroup['reason'] | 'storm';
  /** Whether too many messages went out lately: then the next one tells everything at once. */
  readonly isStorm: boolean;
}

// Of a target that is down again: that it was up is said before that, or the last word would be that it is up.
function endsFirst(groups: readonly MessageGroup[]): readonly MessageGroup[] {
  const beginnings = groups.filter(({ parts: [{ kind }] }) => kind === 'opened');
  const hurried: MessageGroup[] = [];
  const others: MessageGroup[] = [];
  for (const group of groups) {
    // What was tried keeps its own time: it must not delay a beginning again and again.
    const isHurried = isOver(group) && !group.parts.some(wasTried);
    const targets = new Set(isHurried ? group.parts.map(({ incident }) => incident.target) : []);
    const again = beginnings.filter(({ parts }) => parts.some(({ incident }) => targets.has(incident.target)));
    if (again.length === 0) others.push(group);
    else hurried.push({ ...group, at: Math.min(group.at, ...again.map(({ at }) => at)) });
  }
  return [...hurried, ...others];
}

const wasTried = ({ rows }: MessagePart): boolean => rows.some(({ delivery }) => delivery.attempts > 0);

const isOver = ({ parts: [{ kind }] }: MessageGroup): boolean => phaseOf(kind) === 'over';

function afterPause(group: MessageGroup, pause: RequestedPause | undefined): MessageGroup {
  const at = pauseEnd(group.parts, pause);
  return at <= group.at ? group : { ...group, at, reason: 'backoff' };
}

function pauseEnd(parts: MessageParts, pause: RequestedPause | undefined): number {
  if (pause === undefined || parts.some(isRetriedByOperator)) return Number.NEGATIVE_INFINITY;
  return parts.some(isUrgentPart) ? pause.urgentUntil : pause.until;
}

// Only then a delivery that failed counts as never tried.
function isRetriedByOperator({ rows }: MessagePart): boolean {
  return rows.some(({ delivery }) => delivery.attempts === 0 && delivery.lastError !== null);
}

// Messages are counted by severity, so that warnings never use up what outages need. What is urgent is not put off by a storm: it
// comes with everything else, and no more often than groups are made.
function afterStorm(
  group: MessageGroup,
  { storm, grouping }: DeliveryPolicy,
  sent: RecipientQueue['sent'],
): ScheduledGroup {
  const alike = sent.filter(({ severity }) => severity === highestSeverity(group.parts)).map(({ at }) => at);
  const slot = nextSlot(storm, alike);
  if (slot <= group.at) return { ...group, isStorm: false };
  if (!isUrgent(group)) return { ...group, at: slot, reason: 'storm', isStorm: true };
  const pauseMs = Math.max(grouping?.waitMs ?? 0, shortestPauseMs);
  return { ...group, at: Math.max(group.at, (alike.at(-1) ?? 0) + pauseMs), reason: 'storm', isStorm: true };
}

// A critical beginning goes out as soon as its company has come, whatever was sent before.
function isUrgent({ parts: [first] }: Pick<MessageGroup, 'parts'>): boolean {
  return isUrgentPart(first);
}

/** Whether a part is the beginning of something critical. */
export function isUrgentPart({ kind, incident }: MessagePart): boolean {
  return kind === 'opened' && incident.severity === 'critical';
}

/** The highest severity of what a message tells. */
export function highestSeverity(parts: MessageParts): Severity {
  return severities.find((severity) => parts.some(({ incident }) => incident.severity === severity)) ?? 'info';
}

function chosenBefore(rows: readonly PendingDelivery[], pause: RequestedPause | undefined, now: number) {
  const messages = new Map<string, PendingDelivery[]>();
  const ended = endedSince(rows, now);
  for (const row of rows) {
    if (row.message === null || ended.has(row.delivery.incidentId)) continue;
    messages.set(row.message, [...(messages.get(row.message) ?? []), row]);
  }
  let due: NextMessage | null = null;
  let nextAt = Number.POSITIVE_INFINITY;
  for (const [message, own] of messages) {
    const [first, ...rest] = byIncident(own).flatMap((one) => messagePartOf(one) ?? []);
    const dueAt = Math.min(...own.map(({ delivery }) => delivery.nextAttemptAt));
    const at = first === undefined ? dueAt : Math.max(dueAt, pauseEnd([first, ...rest], pause));
    nextAt = Math.min(nextAt, at);
    if (due === null && at <= now && first !== undefined) {
      due = { kind: 'send', reason: 'repeat', parts: [first, ...rest], message };
    }
  }
  return { due, nextAt, incidents: [...messages.values()].flat().map(({ delivery }) => delivery.incidentId) };
}

// Incidents that have ended while the message about their beginning, or a reminder, waits for its retry.
function endedSince(rows: readonly PendingDelivery[], now: number): ReadonlySet<string> {
  const isEnd = ({ delivery: { kind }, message }: PendingDelivery) =>
    message === null && (kind === 'resolved' || kind === 'closed');
  const waits = new Set(
    rows.flatMap(({ delivery, message }) =>
      message !== null && (delivery.kind === 'reminder' || delivery.nextAttemptAt > now + longRepeatMs)
        ? [delivery.incidentId]
        : [],
    ),
  );
  return new Set(
    rows.flatMap((row) => (isEnd(row) && waits.has(row.delivery.incidentId) ? [row.delivery.incidentId] : [])),
  );
}

// A reminder goes out when it is due, and so does what was refused for good; everything else is included now, however far off its
// next attempt is.
function isIncluded(part: MessagePart, now: number): boolean {
  if (part.kind !== 'reminder' && !wasRefused(part)) return true;
  return part.rows.some(({ delivery }) => delivery.nextAttemptAt <= now);
}

/** A message about several incidents may be refused for one of them: they are tried again in ever smaller groups, and apart from others. */
export function wasRefused({ rows }: MessagePart): boolean {
  return rows.some(({ isRefused }) => isRefused === true);
}

// Which part of its refused group each goes with.
function sharesOf(parts: readonly MessagePart[]): ReadonlyMap<MessagePart, string> {
  const shares = new Map<MessagePart, string>();
  const attemptsOf = ({ rows }: MessagePart) => Math.max(...rows.map(({ delivery }) => delivery.attempts));
  const groups = Map.groupBy(
    parts.filter(wasRefused),
    (part) => `${sortOf(part.kind, part.incident.severity)} ${attemptsOf(part)}`,
  );
  for (const [group, own] of groups) {
    const count = 2 ** Math.min(Math.max(...own.map(attemptsOf)), mostHalvings);
    const sorted = own.toSorted((a, b) => (a.incident.id < b.incident.id ? -1 : 1));
    for (const [index, part] of sorted.entries())
      shares.set(part, ` refused ${group} ${Math.floor((index * count) / own.length)}`);
  }
  return shares;
}

function groupsOf(
  parts: readonly MessagePart[],
  policy: DeliveryPolicy,
  sent: RecipientQueue['sent'],
  now: number,
): readonly MessageGroup[] {
  const shares = sharesOf(parts);
  const sorts = new Map<string, [MessagePart, ...MessagePart[]]>();
  for (const part of parts) {
    const sort =
      sortOf(part.kind, part.incident.severity) +
      (policy.grouping === null ? ` ${part.incident.id}` : (shares.get(part) ?? ''));
    const known = sorts.get(sort);
    if (known === undefined) sorts.set(sort, [part]);
    else known.push(part);
  }
  return [...sorts].map(([sort, own]): MessageGroup => {
    const waitMs = policy.grouping?.waitMs ?? 0;
    const rows = own.flatMap((part) => part.rows);
    const readyAt = Math.min(...rows.map((row) => readyAtOf(row, waitMs, now)));
    const last = isUrgent({ parts: own }) ? undefined : sent.findLast((one) => one.sort === sort);
    const freeAt = last === undefined ? Number.NEGATIVE_INFINITY : last.at + (policy.grouping?.intervalMs ?? 0);
    const isWaiting = rows.some((row) => row.delivery.attempts === 0 && readyAtOf(row, waitMs, now) === readyAt);
    const reason = freeAt > readyAt ? 'interval' : isWaiting ? 'company' : 'backoff';
    return { parts: own, reason, at: Math.max(readyAt, freeAt) };
  });
}

/** What the interval after a message is for: nothing has the sort of a digest, which tells of all sorts. */
export function sortOfMessage(kind: MessagePart['kind'] | 'digest', severity: string): string {
  return kind === 'digest' ? kind : sortOf(kind, severity);
}

/** MessageParts of one sort share a message. */
export function sortOf(kind: MessagePart['kind'], severity: string): string {
  return `${severity} ${phaseOf(kind)}`;
}

// A delivery from the future was made before the clock was set back, at an unknown time, so it has waited long enough.
function readyAtOf({ delivery, isHastened = false }: PendingDelivery, waitMs: number, now: number): number {
  const { attempts, createdAt, nextAttemptAt } = delivery;
  if (attempts > 0 || createdAt > now || isHastened) return nextAttemptAt;
  return Math.max(nextAttemptAt, createdAt + waitMs);
}

function byIncident(rows: readonly PendingDelivery[]): readonly (readonly [PendingDelivery, ...PendingDelivery[]])[] {
  const incidents = new Map<string, [PendingDelivery, ...PendingDelivery[]]>();
  for (const row of rows) {
    const known = incidents.get(row.delivery.incidentId);
    if (known === undefined) incidents.set(row.delivery.incidentId, [row]);
    else known.push(row);
  }
  return [...incidents.values()];
}
