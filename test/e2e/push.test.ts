import { expect, test } from 'vitest';
import { hashPassword } from '#kernel/password.ts';
import { commandHere } from '../support/command.ts';
import { startHttpTarget } from '../support/http-target.ts';
import { createProgram, eventually, query } from '../support/program.ts';
import { createPushBrowser, startPushService, verifiedVapid } from '../support/push-service.ts';

const config = (host: string, hash: string, section: string) => `
data: watchpost.db
http: { listen: 127.0.0.1:0, public_url: https://hub.example, users: { ann: { password_hash: "${hash}" } } }
defaults: { every: 1s }
targets: { shop: { check: tcp, host: "${host}", timeout: 900ms } }
notify: { ops: { push: {}, group_wait: 0s } }
${section}
`;

test('a signed-in user adds a device, which is notified over kill -9 with the same key until its subscription ends', async () => {
  await using target = await startHttpTarget();
  await using service = await startPushService();
  await using program = await createProgram();
  const hash = await hashPassword('correct horse');
  const settings = (section: string) => config(new URL(target.url).host, hash, section);
  let running = await program.start(settings(''));
  const own = { 'sec-fetch-site': 'same-origin', accept: 'text/html' };
  const post = async (path: string, fields: Record<string, string>, headers: Record<string, string> = own) =>
    fetch(`${running.url}${path}`, { method: 'POST', body: new URLSearchParams(fields), headers, redirect: 'manual' });
  const login = await post('/login', { user: 'ann', password: 'correct horse' });
  const cookie = login.headers.get('set-cookie')?.split(';')[0] ?? '';
  const signedIn = { ...own, cookie };
  const page = async () => (await fetch(`${running.url}/devices`, { headers: signedIn })).text();

  const browser = createPushBrowser();
  const { p256dh, auth } = browser;
  const device = { recipient: 'ops', name: 'Phone of <b>Ann', endpoint: `${service.origin}/send/abc`, p256dh, auth };
  expect((await post('/actions/devices/add', device)).status).toBe(403);
  expect((await post('/actions/devices/add', device, { cookie, 'sec-fetch-site': 'cross-site' })).status).toBe(403);
  for (const [key, value, objection] of [
    ['recipient', 'boss', 'notify.boss has no push'],
    ['endpoint', 'http://push.example/send', 'endpoint: expected an https address'],
    ['endpoint', 'https://a:b@push.example/send', 'endpoint: expected an https address'],
    ['endpoint', 'file:///etc/passwd', 'endpoint: expected an https address'],
    ['p256dh', Buffer.alloc(65, 4).toString('base64url'), 'p256dh: expected a public key'],
    ['p256dh', '', 'p256dh: expected a public key'],
    ['auth', 'AAAA', 'auth: expected a secret'],
  ] as const) {
    const refused = await post('/actions/devices/add', { ...device, [key]: value }, signedIn);
    expect([key, value, refused.status]).toEqual([key, value, 400]);
    expect(await refused.text()).toContain(objection);
  }
  expect((await post('/actions/devices/add', device, signedIn)).status).toBe(303);
  // The same browser again is the same device.
  expect((await post('/actions/devices/add', device, signedIn)).status).toBe(303);
  const shown = await page();
  expect(shown).toContain('1 device gets notifications.');
  expect(shown).toContain('Phone of &lt;b&gt;Ann');
  expect(shown).not.toContain(service.origin);
  const [, key = ''] = /data-push="([\w-]+)"/.exec(shown) ?? [];

  // An address that a browser names is not reached in a private network, unless that is configured.
  await target.stop();
  await eventually(60_000, () => {
    const [row] = query(program.database, 'SELECT state, last_error FROM deliveries');
    expect(row).toEqual({ state: 'pending', last_error: expect.stringContaining('push.allow_private') });
  });
  expect(service.received).toEqual([]);
  await running.end('SIGKILL');

  running = await program.start(settings('push: { allow_private: true }'));
  await eventually(90_000, () => expect(service.received).not.toEqual([]));
  const [first] = service.received;
  const message = JSON.parse(browser.decrypt(first!.body));
  expect(message).toMatchObject({
    title: expect.stringContaining('shop'),
    link: expect.stringMatching(/^https:\/\/hub\.example\/incidents\/shop\//),
    acknowledge: expect.stringMatching(/^https:\/\/hub\.example\/acknowledge\//),
  });
  const vapid = verifiedVapid(first!.headers.authorization);
  expect(vapid.key).toBe(key);
  expect(vapid.claims).toMatchObject({ aud: service.origin });
  await eventually(60_000, () =>
    expect(query(program.database, "SELECT state FROM deliveries WHERE kind = 'opened'")).toEqual([{ state: 'sent' }]),
  );

  const tried = await commandHere([
    'alert',
    'test',
    'ops',
    '--kind',
    'opened',
    '--config',
    `${program.folder}/watchpost.yaml`,
  ]);
  expect(tried).toMatchObject({ code: 0, out: expect.stringContaining('accepted: taken for 1 device') });
  expect(browser.decrypt(service.received.at(-1)!.body)).toContain('[TEST]');

  service.statusOf = () => 410;
  await target.start();
  await eventually(90_000, async () => expect(await page()).toContain('No device gets notifications.'));
  const end = JSON.parse(browser.decrypt(service.received.at(-1)!.body));
  expect(end).toMatchObject({ tag: message.tag, title: expect.stringMatching(/up again/i) });

  expect((await post('/actions/devices/add', device, signedIn)).status).toBe(303);
  const [, id = ''] = /name="id" value="(\w+)"/.exec(await page()) ?? [];
  expect((await post('/actions/devices/remove', { id })).status).toBe(403);
  expect((await post('/actions/devices/remove', { id }, signedIn)).status).toBe(303);
  expect(await page()).toContain('No device gets notifications.');
  for (const line of running.log) expect(JSON.stringify(line)).not.toContain('/send/abc');
}, 300_000);
