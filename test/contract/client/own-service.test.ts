import { expect, test } from 'vitest';
import {
  CheckSpec,
  interfaceTypeNames,
  startableTypeNames,
  failed,
  failure,
  type FailureCode,
  type FailureSource,
  type Outcome,
} from '#checks/index.ts';
import { createClient } from '#client/client.ts';
import { systemClock } from '#kernel/clock.ts';
import { systemRandom } from '#kernel/random.ts';
import { fakeNodes, places, startService } from '../../support/check-service.ts';
import { quiet } from '../../support/store.ts';

// What our service answers, read by our client, over HTTP.

async function votesOn(outcome: Outcome, compatible: boolean) {
  await using service = await startService({ transport: fakeNodes(places, () => outcome), compatible });
  const client = createClient({
    url: service.url,
    token: null,
    budget: { count: 100, perMs: 1_000 },
    clock: systemClock,
    random: systemRandom,
    log: quiet,
  });
  try {
    const found: (readonly [string, readonly string[]])[] = [];
    for (const type of startableTypeNames) {
      const spec = CheckSpec.parse({ type, host: 'example.com' });
      const { votes } = await client.run({ spec, nodes: { kind: 'all' } }, new AbortController().signal);
      found.push([type, votes.map((vote) => vote.outcome.status)]);
    }
    return Object.fromEntries(found);
  } finally {
    client.close();
  }
}

const everyType = (status: string) =>
  Object.fromEntries(startableTypeNames.map((type) => [type, places.map(() => status)]));

test.each<{ source: FailureSource; code: FailureCode; message: string }>([
  { source: 'resolver', code: 'name_server', message: 'the resolver of this node does not work' },
  { source: 'resolver', code: 'name_timeout', message: 'no answer within 2 s' },
  { source: 'resolver', code: 'name_not_found', message: 'the name does not exist' },
  { source: 'node', code: 'local', message: 'connection refused' },
  { source: 'service', code: 'gone', message: 'not found' },
])('a node that cannot say ($source, $code) is heard as one, whatever the check', async ({ source, code, message }) => {
  const outcome = failed(failure(source, code, message));
  expect(await votesOn(outcome, false)).toEqual(everyType('unknown'));
  expect(await votesOn(outcome, true)).toEqual(everyType('unknown'));
});

test('a target that is down is heard as down', async () => {
  const outcome = failed(failure('target', 'name_not_found', 'the name does not exist'));
  // What the interface has no words for cannot be asked of a service: nobody knows.
  const isKnown = (type: string) => interfaceTypeNames.some((name) => name === type);
  const expected = Object.fromEntries(
    startableTypeNames.map((type) => [type, places.map(() => (isKnown(type) ? 'down' : 'unknown'))]),
  );
  expect(await votesOn(outcome, false)).toEqual(expected);
  expect(await votesOn(outcome, true)).toEqual(expected);
});
