import { expect, test } from 'vitest';
import { createRecipientQueues } from '#monitor/notify/recipient-queues.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { delivery, shopDown } from '../../../support/incidents.ts';
import { alone } from '../../../support/policies.ts';

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
