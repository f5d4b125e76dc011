import { expect, test } from 'vitest';
import { createRecipientQueues, deliveriesOf, type MessageDispatch } from '#monitor/notify/recipient-queues.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { delivery, shopDown } from '../../../support/incidents.ts';
import { alone, grouped } from '../../../support/policies.ts';

const recipients = ['a@example.com', 'b@example.com', 'c@example.com'];

function rowsAt(now: number) {
  return recipients.map((recipient, index) => ({
    delivery: delivery({ id: index + 1, recipient, createdAt: now, nextAttemptAt: now }),
    incident: shopDown,
    message: null,
    root: null,
    rootReference: null,
    unreached: [],
    isKnownToOthers: false,
  }));
}

test('where there is room for one, whoever has waited longest goes first, whatever the order of the rows', () => {
  const clock = new FakeClock();
  const queues = createRecipientQueues({ clock, concurrency: 1, policyOf: () => alone });
  const served: string[] = [];
  for (let turn = 0; turn < 6; turn += 1) {
    queues.fill(rowsAt(clock.now()));
    const dispatch = queues.take();
    if (dispatch === null) throw new Error('nobody is next');
    expect(queues.take()).toBeNull();
    served.push(dispatch.recipient);
    queues.release(dispatch);
  }
  expect(served).toEqual([...recipients, ...recipients]);
});

test('what waits behind a message is next when that is over, but for what is about the same incident', () => {
  const clock = new FakeClock();
  const queues = createRecipientQueues({ clock, concurrency: 4, policyOf: () => alone });
  const [row] = rowsAt(clock.now());
  if (row === undefined) throw new Error('there is no row');
  const other = { ...shopDown, id: 'blog/down/1', target: 'blog' };
  const resolved = { ...row, delivery: { ...row.delivery, id: 8, kind: 'resolved' as const } };
  const ofOther = { ...row, incident: other, delivery: { ...row.delivery, id: 9, incidentId: other.id } };
  queues.fill(inOrder(row, ofOther));
  const first = queues.take();
  if (first === null) throw new Error('nothing is next');
  expect(idsOf(first)).toEqual([1]);
  expect(queues.take()).toBeNull();
  // Read again while the first one is on its way.
  queues.fill(inOrder(row, resolved, ofOther));
  expect(queues.take()).toBeNull();
  queues.release(first);
  const second = queues.take();
  expect(second === null ? null : idsOf(second)).toEqual([9]);
  expect(queues.take()).toBeNull();
});

test('the earliest message is due now if it has become due since it was looked for', () => {
  const clock = new FakeClock();
  const queues = createRecipientQueues({ clock, concurrency: 4, policyOf: () => grouped });
  expect(queues.nextAt()).toBe(Number.POSITIVE_INFINITY);
  const readyAt = clock.now() + 30_000;
  queues.fill(rowsAt(clock.now()));
  expect(queues.nextAt()).toBe(readyAt);
  clock.hold(29_999);
  expect(queues.take()).toBeNull();
  clock.hold(1);
  expect(queues.nextAt()).toBe(readyAt);
});

const inOrder = <Row>(...rows: readonly Row[]) => rows;
const idsOf = ({ next }: MessageDispatch) => deliveriesOf(next).map(({ id }) => id);
