import { createHash } from 'node:crypto';
import type { Delivery, MessageKind, PendingDelivery } from '../judge/delivery.ts';
import type { Incident, VoteLine } from '../judge/incident.ts';
import { failing } from '../judge/rules/failing.ts';
import type { Message } from './channel.ts';
import { composeMessage } from './compose-message.ts';
import { messagePartOf } from './message-part.ts';

/** A made-up message of each kind about an incident, for trying out whether they arrive and what they look like. */
export function sampleMessages(zone: string, now: number, recipient: string): readonly Message[] {
  const kinds = ['opened', 'update', 'reminder', 'resolved', 'closed', 'late', 'digest'] as const;
  return kinds.map((kind) => markedAsSample(sampleOf(kind, zone, now, recipient), now));
}

function sampleOf(kind: Exclude<MessageKind, 'summary'>, zone: string, now: number, recipient: string): Message {
  const options = { zone, linkTo: () => null };
  const rows = (incident: Incident, ...own: readonly Delivery[]): [PendingDelivery, ...PendingDelivery[]] => {
    const [first, ...rest] = own.map((delivery) => ({
      delivery,
      incident,
      message: null,
      root: null,
      unreached: [],
      isKnownToOthers: false,
      rootReference: null,
    }));
    if (first === undefined) throw new RangeError('a sample without a delivery');
    return [first, ...rest];
  };
  const part = (...own: readonly Delivery[]) => {
    const isOver = own.some(({ kind: one }) => one === 'resolved' || one === 'closed');
    const isUpdate = own.some(({ kind: one }) => one === 'update');
    const incident = isOver ? endedIncident(now) : isUpdate ? withLaterCause(now) : open(now);
    const made = messagePartOf(rows(incident, ...own));
    if (made === null) throw new RangeError('a sample without content');
    return made;
  };
  const at = (one: Delivery['kind']) => deliveryOf(one, recipient, now);
  switch (kind) {
    case 'opened':
    case 'update':
    case 'reminder':
    case 'resolved':
    case 'closed':
      return composeMessage([part(at(kind))], options);
    case 'late':
      return composeMessage(
        [part({ ...at('opened'), lastError: 'the mail server did not answer' }, at('resolved'))],
        options,
      );
    case 'digest':
      return composeMessage([part(at('opened')), part(at('resolved'))], options);
  }
}

function markedAsSample(message: Message, now: number): Message {
  const { content } = message;
  const id = createHash('sha256').update(`sample ${message.id} ${now}`).digest('hex').slice(0, 32);
  const remarks = ['This is a sample: nothing has happened.', ...content.remarks];
  return {
    ...message,
    id,
    references: [],
    content: { ...content, subject: `[TEST] ${content.subject}`, remarks },
    at: now,
  };
}

const minute = 60_000;

function open(now: number): Incident {
  return {
    id: 'sample/down/0',
    target: 'sample',
    rule: 'down',
    severity: 'critical',
    wording: failing.wording,
    subject: 'http https://sample.example.com/health',
    condition: 'more than half of the nodes failing in 2 rounds in a row',
    startedAt: now - 12 * minute,
    openedAt: now - 11 * minute,
    endedAt: null,
    cause: 'connection refused',
    laterCauses: [],
    votes: [
      vote('de1', 'Frankfurt, Germany', 'down'),
      vote('fr1', 'Paris, France', 'down'),
      vote('us1', 'Ashburn, United States', 'up'),
    ],
    closing: null,
    closingVotes: null,
    timeline: [],
    // For receivers that route by labels, and show neither the subject nor a remark.
    labels: { team: 'shop', test: 'true' },
    held: null,
    notified: null,
    lateReason: null,
    acknowledged: null,
  };
}

function withLaterCause(now: number): Incident {
  const cause = 'ended with exit code 137: ended by SIGKILL';
  return { ...open(now), laterCauses: [{ number: 1, at: now - minute, code: 'exit', cause }] };
}

function endedIncident(now: number): Incident {
  const up = open(now).votes.map((line): VoteLine => vote(line.node, line.place, 'up'));
  // With the later cause of the update before it: where that is an alert of its own, it ends as well.
  return { ...withLaterCause(now), endedAt: now - 30_000, closing: 'recovered', closingVotes: up };
}

function vote(node: string, place: string, status: 'up' | 'down'): VoteLine {
  const failure = { source: 'target', code: 'refused', message: 'connection refused' } as const;
  return {
    node,
    place,
    status,
    address: '192.0.2.80',
    seconds: status === 'up' ? 0.0834 : null,
    ...(status === 'up' ? { source: null, code: null, message: null } : failure),
  };
}

function deliveryOf(kind: Delivery['kind'], recipient: string, now: number): Delivery {
  const times = { createdAt: now, nextAttemptAt: now, attempts: 0, lastError: null };
  return {
    id: kind === 'opened' ? 1 : 2,
    incidentId: 'sample/down/0',
    kind,
    number: 1,
    channel: 'sample',
    recipient,
    ...times,
  };
}
