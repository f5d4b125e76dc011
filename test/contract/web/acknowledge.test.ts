import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { WatchpostError } from '#kernel/errors.ts';
import { createControls } from '#monitor/controls.ts';
import { createAcknowledgements } from '#monitor/notify/acknowledgement.ts';
import { loadAssets } from '#web/assets/assets.ts';
import { acknowledgePath, acknowledgeRoutes } from '#web/pages/acknowledge.ts';
import { createSite } from '#web/pages/site.ts';
import { shopDown } from '../../support/incidents.ts';
import { serveWeb } from '../../support/web.ts';
import { type Scenario, startScenario, target } from '../../support/scenario.ts';
import { seededRandom } from '../../support/seeded-random.ts';

const to = { channel: 'email', recipient: '<ops@example.com>' };
const links = createAcknowledgements('a key');

test('a token says what it was made for, and nothing else is one', () => {
  const token = links.tokenFor({ id: 'shop/down/1' }, to);
  expect(token).toMatch(/^[\w-]+\.[\w-]{24}$/);
  expect(links.tokenFor({ id: 'shop/down/1' }, to)).toBe(token);
  expect(links.read(token)).toEqual({ incident: 'shop/down/1', ...to });
  const [payload = '', signature = ''] = token.split('.');
  const other = Buffer.from(JSON.stringify(['blog/down/1', 'email', 'x'])).toString('base64url');
  for (const wrong of [
    '',
    '.',
    payload,
    `${payload}.`,
    `${other}.${signature}`,
    `${payload}.${signature.slice(1)}A`,
    `${token}.x`,
    `${payload}.${signature}AAAA`,
  ])
    expect(links.read(wrong)).toBeNull();
  expect(createAcknowledgements('another key').read(token)).toBeNull();
});

/** A message tells of all that is open. */
const toldBy = (scenario: Scenario) => (message: string) =>
  message === 'a message' ? scenario.monitor.openIncidents().map(({ id }) => id) : [];

async function serve() {
  const scenario = await startScenario({ targets: [target('shop'), target('blog'), target('well')] });
  const controls = createControls({ monitor: () => scenario.monitor, clock: scenario.clock, random: seededRandom(1) });
  const site = createSite({ assets: await loadAssets(), places: [], service: null });
  const server = await serveWeb({
    plugins: [
      acknowledgeRoutes({ ...controls, site, read: (token) => links.read(token), incidentsOf: toldBy(scenario) }),
    ],
  });
  const ask = async (method: string, token: string) => {
    const url = `http://127.0.0.1:${server.addr().port}${acknowledgePath}${token}`;
    const accept = { accept: 'text/html' };
    const form = { 'content-type': 'application/x-www-form-urlencoded', ...accept };
    const response = await fetch(url, {
      method,
      ...(method === 'POST' ? { headers: form, body: '' } : { headers: accept }),
    });
    return { status: response.status, page: await response.text(), headers: response.headers };
  };
  return {
    scenario,
    ask,
    async [Symbol.asyncDispose]() {
      await server.close();
      await scenario[Symbol.asyncDispose]();
    },
  };
}

test('following a link changes nothing, its button acknowledges once', async () => {
  await using served = await serve();
  const { scenario, ask } = served;
  scenario.see('shop', 'd');
  await scenario.clock.advance(180_000);
  const open = () => scenario.monitor.openIncidents()[0];
  const token = links.tokenFor(open()!, to);
  const shown = await ask('GET', token);
  expect(shown).toMatchObject({ status: 200, page: expect.stringContaining('<form method="post"><button>') });
  expect(shown.page).toContain('shop is down');
  expect(shown.headers.get('referrer-policy')).toBe('no-referrer');
  expect(shown.headers.get('cache-control')).toBe('no-store');
  expect(shown.headers.get('content-security-policy')).not.toContain('unsafe');
  expect((await ask('HEAD', token)).status).toBe(200);
  expect(open()?.acknowledged).toBeNull();

  expect(await ask('POST', token)).toMatchObject({ status: 200, page: expect.stringContaining('Thank you') });
  expect(open()?.acknowledged?.why).toBe('by <ops@example.com>, through the link in a message');
  for (const method of ['GET', 'POST']) {
    const again = await ask(method, token);
    expect(again.status).toBe(410);
    expect(again.page).toContain('Acknowledged already: by &lt;ops@example.com&gt;');
    expect(again.page).not.toContain('<form');
  }
});

test('a link to what is over, and one that is none of ours, acknowledge nothing', async () => {
  await using served = await serve();
  const { scenario, ask } = served;
  scenario.see('shop', 'd');
  await scenario.clock.advance(180_000);
  const token = links.tokenFor(scenario.monitor.openIncidents()[0]!, to);
  scenario.see('shop', 'u');
  await scenario.clock.advance(300_000);
  expect(await ask('GET', token)).toMatchObject({ status: 410, page: expect.stringContaining('is over') });
  expect(await ask('POST', token)).toMatchObject({ status: 410 });
  expect(await ask('POST', `${token}x`)).toMatchObject({ status: 404 });
});

test('a link of a message about several incidents acknowledges all of them', async () => {
  await using served = await serve();
  const { scenario, ask } = served;
  scenario.see('shop', 'd');
  scenario.see('blog', 'd');
  await scenario.clock.advance(180_000);
  const token = links.tokenForAll('a message', to);
  expect(links.read(token)).toEqual({ message: 'a message', ...to });
  const shown = await ask('GET', token);
  expect(shown).toMatchObject({ status: 200, page: expect.stringMatching(/2 incidents: (?:shop|blog) is down/) });
  expect(shown.page).toContain('No more notifications are sent about them until they are resolved.');
  const { status, page } = await ask('POST', token);
  expect(status).toBe(200);
  expect(page).toMatch(/No more notifications are sent about (?:shop, blog|blog, shop) until they are resolved\./);
  expect(scenario.monitor.openIncidents().map(({ acknowledged }) => acknowledged?.why)).toEqual(
    Array(2).fill('by <ops@example.com>, through the link in a message'),
  );
  expect((await ask('POST', token)).status).toBe(410);
  expect((await ask('GET', links.tokenForAll('another message', to))).status).toBe(410);
});

test('a thousand incidents are acknowledged a hundred at a time, without those that are over meanwhile', async () => {
  const incidents = Array.from({ length: 1_000 }, (_, index) => ({
    ...shopDown,
    id: `t${index}/down/1`,
    target: `t${index}`,
  }));
  const acknowledged: string[] = [];
  let [running, most] = [0, 0];
  const server = await serveWeb({
    plugins: [
      acknowledgeRoutes({
        site: createSite({ assets: await loadAssets(), places: [], service: null }),
        read: (token) => links.read(token),
        openIncidents: () => incidents,
        incidentsOf: () => incidents.map(({ id }) => id),
        async acknowledge(id) {
          most = Math.max(most, (running += 1));
          await turn();
          running -= 1;
          if (id === 't7/down/1') throw new WatchpostError('usage', 'there is no open incident t7/down/1');
          acknowledged.push(id);
          return shopDown;
        },
      }),
    ],
  });
  try {
    const token = links.tokenForAll('a message', to);
    const url = `http://127.0.0.1:${server.addr().port}${acknowledgePath}${token}`;
    const response = await fetch(url, { method: 'POST' });
    expect(await response.json()).toMatchObject({
      message: expect.stringContaining('t9, 990 more until they are resolved'),
    });
    expect(acknowledged).toHaveLength(999);
    expect(most).toBe(100);
  } finally {
    await server.close();
  }
});
