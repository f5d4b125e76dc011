import fastify, { type FastifyInstance } from 'fastify';
import { expect, test } from 'vitest';
import { builtInLanguages } from '#languages/languages.ts';
import type { Subscriptions } from '#subscriptions/subscriptions.ts';
import type { AccessControl } from '#web/access/access.ts';
import { addDevices, type DevicePages } from '#web/pages/device-routes.ts';
import { addEditing, type TargetEdits } from '#web/pages/edit-routes.ts';
import { addTargetEditing } from '#web/pages/edit-target-routes.ts';
import { loginRoutes } from '#web/pages/login.ts';
import type { PageSet } from '#web/pages/site.ts';
import type { StatusPlace } from '#web/pages/status-place.ts';
import type { ConfiguredPages } from '#web/pages/status-value.ts';
import { subscribeRoutes } from '#web/pages/subscribe-routes.ts';

/** Every form besides those of incidents, at a server that notes what it is made to do. */
async function openForms() {
  const app = fastify();
  const done: string[] = [];
  const note = (what: string) => void done.push(what);
  const answer = { headers: {}, body: '' };
  const site = { page: () => answer, problem: () => answer } as unknown as PageSet;
  const access = {
    userOf: () => 'ann',
    mayAct: () => true,
    signIn: async () => (note('sign in'), { session: 'abc' }),
    signOut: () => note('sign out'),
  } as unknown as AccessControl;
  await app.register(loginRoutes(site, access));
  addDevices(app, { site, access, devices: { remove: () => note('remove a device') } as unknown as DevicePages });
  const edits = {
    remove: async () => note('remove a target'),
    linesOf: async () => ({ file: 'watchpost.yaml', line: 1, byHand: null, lines: 'old' }),
    change: async () => (note('change a target'), 'shop'),
  } as unknown as TargetEdits;
  addEditing(app, { site, access, edits });
  addTargetEditing(app, { site, access, edits });
  await addSubscribing(app, site, () => note('subscribe'));
  return { app, done };
}

async function addSubscribing(app: FastifyInstance, site: PageSet, request: () => void) {
  const page = { title: 'Shop', logo: null, links: {}, subscribe: true };
  await app.register(
    subscribeRoutes({
      site,
      pages: () => ({ shop: page }) as unknown as ConfiguredPages,
      subscriptions: { admits: () => true, request } as unknown as Subscriptions,
      isMailAddress: () => true,
      languages: builtInLanguages,
      placeFor: () => ({ home: '/status/shop' }) as StatusPlace,
      missing: (_, reply) => reply.code(404).send(),
    }),
  );
}

test.each([
  { url: '/login', payload: 'user=ann&password=secret', does: 'sign in', refusal: 401 },
  { url: '/logout', payload: '', does: 'sign out', refusal: 303 },
  { url: '/actions/devices/remove', payload: 'id=abc', does: 'remove a device', refusal: 403 },
  { url: '/actions/targets/remove', payload: 'target=shop', does: 'remove a target', refusal: 403 },
  {
    url: '/actions/targets/edit',
    payload: 'target=shop&lines=new&seen="old"&reviewed="new"&step=save',
    does: 'change a target',
    refusal: 403,
  },
  { url: '/status/shop/subscribe', payload: 'address=ann@example.com', does: 'subscribe', refusal: 403 },
])('a form of another site does not $does', async ({ url, payload, does, refusal }) => {
  const { app, done } = await openForms();
  const send = async (site: string) => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': site };
    return app.inject({ method: 'POST', url, payload, headers });
  };
  expect((await send('cross-site')).statusCode).toBe(refusal);
  expect(done).toEqual([]);
  expect((await send('same-origin')).statusCode).toBeLessThan(400);
  expect(done).toEqual([does]);
  await app.close();
});
