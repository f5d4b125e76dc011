import { expect, test } from 'vitest';
import { fakeNodes, places, startService } from '../../support/check-service.ts';
import { up } from '../../support/votes.ts';

// de1 is in Frankfurt, AS64500; de2 in Berlin, AS64501; us1 in Los Angeles, AS64502.

async function serve() {
  const service = await startService({ transport: fakeNodes(places, () => up(0.01, { address: '127.0.0.1' })) });
  const post = async (more: object) => {
    const answer = await fetch(`${service.url}/api/v1/checks`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ type: 'tcp', host: '127.0.0.1', ...more }),
    });
    return { status: answer.status, body: (await answer.json()) as { results?: { node: { name: string } }[] } };
  };
  return { service, post, [Symbol.asyncDispose]: async () => service[Symbol.asyncDispose]() };
}

test.each<{ location: unknown; more?: object; chosen: readonly string[] }>([
  { location: ['country:DE'], chosen: ['de1', 'de2'] },
  { location: 'country:us', chosen: ['us1'] },
  { location: ['as:64501'], chosen: ['de2'] },
  { location: [{ as: 64_501 }, { as: 'AS64502' }], chosen: ['de2', 'us1'] },
  { location: ['city:los ANGELES', 'city:Fránkfurt'], chosen: ['de1', 'us1'] },
  { location: [{ country: 'de', city: 'Berlin' }], chosen: ['de2'] },
  { location: [{ country: 'de', as: 64_502 }, 'city:Berlin'], chosen: ['de2'] },
  { location: [], chosen: ['de1', 'de2', 'us1'] },
])('$location', async ({ location, chosen }) => {
  await using served = await serve();
  const { status, body } = await served.post({ location });
  expect([status, body.results?.map(({ node }) => node.name)]).toEqual([201, chosen]);
});

test('max_nodes holds among the nodes of a location, and a form names one too', async () => {
  await using served = await serve();
  const { body } = await served.post({ location: ['country:DE'], max_nodes: 1 });
  expect(body.results).toHaveLength(1);
  expect(['de1', 'de2']).toContain(body.results?.[0]?.node.name);
  const form = new URLSearchParams('type=tcp&host=127.0.0.1&location=city:Berlin&location[]=as:64502');
  const answer = await fetch(`${served.service.url}/api/v1/checks`, { method: 'POST', body: form });
  const { results } = (await answer.json()) as { results: { node: { name: string } }[] };
  expect(results.map(({ node }) => node.name)).toEqual(['de2', 'us1']);
});

test.each<{ more: object; status: number; error: string; message: string }>([
  { more: { location: ['country:FR'] }, status: 422, error: 'no_nodes', message: 'no node at this location is online' },
  {
    more: { location: ['de'] },
    status: 400,
    error: 'bad_request',
    message: 'location[0]: expected "country:DE", "as:3320", "city:Berlin" or an object of these',
  },
  {
    more: { location: ['city:Berlin', 'contry:DE'] },
    status: 400,
    error: 'bad_request',
    message: 'location[1].contry: unknown key (did you mean "country"?)',
  },
  {
    more: { location: [{ country: 'Germany' }] },
    status: 400,
    error: 'bad_request',
    message: 'location[0].country: expected a country code of two letters, such as "DE"',
  },
  {
    more: { location: ['as:abc'] },
    status: 400,
    error: 'bad_request',
    message: 'location[0].as: expected the number of an autonomous system, such as 3320',
  },
  { more: { location: [3] }, status: 400, error: 'bad_request', message: 'location[0]: expected "country:DE"' },
  { more: { location: [{}] }, status: 400, error: 'bad_request', message: 'location[0]: expected a country' },
  {
    more: { location: ['city:Berlin'], node: 'de1' },
    status: 400,
    error: 'bad_request',
    message: 'location: cannot be combined with "node"',
  },
])('$message', async ({ more, status, error, message }) => {
  await using served = await serve();
  expect(await served.post(more)).toEqual({
    status,
    body: { ok: 0, error, message: expect.stringContaining(message) },
  });
});

test('the interface knows no locations: the parameter is ignored', async () => {
  await using served = await serve();
  const answer = await fetch(`${served.service.url}/check-tcp?host=127.0.0.1&location=country:FR`);
  expect(Object.keys(((await answer.json()) as { nodes: object }).nodes)).toHaveLength(3);
});
