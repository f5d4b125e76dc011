import { Agent } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkOf, CheckSpec, interfaceTypeNames, type Outcome } from '#checks/index.ts';
import { anyText } from '../../support/any-text.ts';
import { badRequest, complaintOf } from '../../support/bad-requests.ts';
import { fakeNodes, places, startService } from '../../support/check-service.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { notUp } from '../../support/votes.ts';

const busy = (): Outcome => notUp('busy', 'node');

test('whatever is asked, the answer is good, a JSON error of the table or a page, and nothing is left behind', async () => {
  await using service = await startService({ transport: fakeNodes(places.slice(0, 1), busy) });
  const random = seededRandom(4);
  using agent = disposable(new Agent({ keepAlive: true, maxSockets: 8 }));
  const complaints: string[] = [];
  for (let batch = 0; batch < 50; batch += 1) {
    const requests = Array.from({ length: 24 }, () => badRequest(random));
    const found = await Promise.all(requests.map(async (one) => complaintOf(service.url, one, agent.value)));
    complaints.push(...found.filter((complaint) => complaint !== null));
  }
  expect(complaints).toEqual([]);
  expect(service.checks.open).toBe(0);
});

test.each([
  '\r\n\r\n',
  'GET\r\n\r\n',
  'GET / HTTP/9.9\r\n\r\n',
  '\u0016\u0003\u0001',
  'GET /check-tcp?host=\u0000 HTTP/1.1\r\nHost: a\r\n\r\n',
  'POST /check-tcp HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n',
  'POST /check-tcp HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
])('bytes that are no request (%j) are refused in JSON', async (bytes) => {
  await using service = await startService({ transport: fakeNodes(places.slice(0, 1), busy) });
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
  socket.end(bytes);
  const answer = await text(socket);
  if (answer === '') return;
  expect(answer).toMatch(/^HTTP\/1\.1 4\d\d /);
  expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toMatchObject({ ok: 0, error: 'bad_request' });
});

test('the route takes exactly the hosts that the check type takes, and records what it records', async () => {
  const transport = fakeNodes(places.slice(0, 1), busy);
  await using service = await startService({ transport, access: { allowPrivate: true } });
  const host = fc.oneof(
    anyText({ maxLength: 60 }),
    fc.webUrl({ withQueryParameters: true }),
    fc.domain(),
    fc.ipV4Extended(),
    fc.ipV6(),
    fc.tuple(fc.domain(), fc.integer({ min: -1, max: 70_000 })).map(([name, port]) => `${name}:${port}`),
  );
  await fc.assert(
    fc.asyncProperty(host, fc.constantFrom(...interfaceTypeNames), async (written, type) => {
      const answer = await fetch(`${service.url}/check-${type}?${new URLSearchParams({ host: written }).toString()}`);
      const spec = CheckSpec.safeParse({ type, host: written.toWellFormed().trim(), ...checkOf(type).overApi });
      const body = (await answer.json()) as { request_id: string };
      if (answer.status === 403) return;
      expect(answer.status, JSON.stringify(body)).toBe(spec.success ? 200 : 400);
      if (spec.success) expect(service.checks.find(body.request_id)?.spec).toEqual(spec.data);
      else expect(body).toMatchObject({ ok: 0, error: 'invalid_host' });
    }),
    { numRuns: 200, seed: 4 },
  );
});

function disposable(agent: Agent): Disposable & { readonly value: Agent } {
  return { value: agent, [Symbol.dispose]: () => agent.destroy() };
}
