import fastify from 'fastify';
import { expect, test } from 'vitest';
import type { AccessControl } from '#web/access/access.ts';
import { addActions } from '#web/pages/actions.ts';
import type { PageSet } from '#web/pages/site.ts';

async function send(headers: Readonly<Record<string, string>>, mayAct = true) {
  const app = fastify();
  const acknowledged: string[] = [];
  addActions(app, {
    actions: {
      acknowledge: async (incident) => void acknowledged.push(incident),
      check: async () => 'x',
      silence: () => {},
    },
    access: { mayAct: () => mayAct } as unknown as AccessControl,
    site: { problem: () => ({ headers: {}, body: 'no' }) } as unknown as PageSet,
  });
  const { statusCode } = await app.inject({
    method: 'POST',
    url: '/actions/acknowledge',
    headers: { host: 'watch.example:8080', 'content-type': 'application/x-www-form-urlencoded', ...headers },
    payload: 'incident=abc&why=known',
  });
  await app.close();
  return { statusCode, acknowledged };
}

test.each([
  { name: 'our own page', headers: { 'sec-fetch-site': 'same-origin' } },
  { name: 'our own page, by an old browser', headers: { origin: 'http://watch.example:8080' } },
])('a form is accepted from $name', async ({ headers }) => {
  expect(await send(headers)).toEqual({ statusCode: 303, acknowledged: ['abc'] });
  expect(await send(headers, false)).toEqual({ statusCode: 403, acknowledged: [] });
});

test.each([
  { name: 'another site', headers: { 'sec-fetch-site': 'cross-site', origin: 'http://watch.example:8080' } },
  { name: 'another host of this site', headers: { 'sec-fetch-site': 'same-site' } },
  { name: 'another port', headers: { origin: 'http://watch.example' } },
  { name: 'another site, by an old browser', headers: { origin: 'https://evil.example' } },
  { name: 'a page without an origin', headers: { origin: 'null' } },
  { name: 'something that says nothing of where it comes from', headers: {} },
])('a form is refused from $name', async ({ headers }) => {
  expect(await send(headers)).toEqual({ statusCode: 403, acknowledged: [] });
});
