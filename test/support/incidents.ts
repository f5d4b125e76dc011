import type { Delivery } from '#monitor/judge/delivery.ts';
import type { Incident, VoteLine } from '#monitor/judge/incident.ts';
import { failing } from '#monitor/judge/rules/failing.ts';

export const up: VoteLine = {
  node: 'us1',
  place: 'Ashburn, United States',
  status: 'up',
  seconds: 0.0834,
  address: '192.0.2.7',
  source: null,
  code: null,
  message: null,
};

export const refused: VoteLine = {
  ...up,
  node: 'de1',
  place: 'Frankfurt, Germany',
  status: 'down',
  seconds: null,
  source: 'target',
  code: 'refused',
  message: 'connection refused',
};

const silent: VoteLine = {
  ...refused,
  node: 'de2',
  place: 'Berlin, Germany',
  status: 'unknown',
  address: null,
  source: 'node',
  code: 'no_answer',
  message: 'the node did not answer',
};

/** Down on three of four nodes from 12:01 to 12:09:12. */
export const shopDown: Incident = {
  id: 'shop/down/1767268890000',
  target: 'shop',
  rule: 'down',
  severity: 'critical',
  subject: 'http https://shop.example.com/health',
  condition: 'most nodes see it down, 2 rounds in a row',
  startedAt: Date.parse('2026-01-01T12:01:00Z'),
  openedAt: Date.parse('2026-01-01T12:01:30Z'),
  endedAt: null,
  cause: 'connection refused',
  votes: [
    refused,
    { ...refused, node: 'fr1', place: 'Paris, France', seconds: 0.0121 },
    up,
    { ...refused, node: 'jp1', place: 'Tokyo, Japan' },
  ],
  closingVotes: null,
  closing: null,
  wording: failing.wording,
  timeline: [],
  held: null,
  notified: [{ channel: 'email', recipient: 'ops@example.com' }],
  lateReason: null,
  laterCauses: [],
  labels: {},
  acknowledged: null,
};

export const shopBack: Incident = {
  ...shopDown,
  endedAt: Date.parse('2026-01-01T12:09:12Z'),
  closingVotes: [
    { ...up, node: 'de1', place: 'Frankfurt, Germany', seconds: 0.0213 },
    { ...up, node: 'fr1', place: 'Paris, France', seconds: 1.25 },
    up,
    silent,
  ],
};

/** A delivery of `shopDown`'s beginning to ops@example.com, changed as asked. */
export function delivery(changes: Partial<Delivery> = {}): Delivery {
  const createdAt = changes.createdAt ?? shopDown.openedAt;
  return {
    id: 1,
    incidentId: shopDown.id,
    kind: 'opened',
    number: 1,
    channel: 'email',
    recipient: 'ops@example.com',
    createdAt,
    nextAttemptAt: createdAt,
    attempts: 0,
    lastError: null,
    ...changes,
  };
}
