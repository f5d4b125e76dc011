import { expect, test } from 'vitest';
import { startHttpTarget } from '../support/http-target.ts';
import { createProgram, eventually, query } from '../support/program.ts';
import { closedPort } from '../support/tcp-servers.ts';
import { startSmtp } from '../support/smtp.ts';
import { commandHere } from '../support/command.ts';

const config = (host: string, port: number, listen: number) => `
data: watchpost.db
http: { listen: "127.0.0.1:${listen}", public_url: http://hub.example }
smtp: { url: "smtp://127.0.0.1:${port}", from: "Example <status@example.com>" }
defaults: { every: 1s }
targets:
  shop: { check: tcp, host: "${host}", timeout: 900ms }
  secret: { check: tcp, host: "${host}", timeout: 900ms }
pages:
  status: { title: Example, targets: { shop: Web shop }, subscribe: true }
  other: { title: Other, targets: { secret: Inside } }
`;

const linkIn = (text: string | undefined, what: string) =>
  new URL(new RegExp(`http://hub\\.example/status/status/${what}/\\S+`).exec(text ?? '')?.[0] ?? 'none:').pathname;

test('visitors subscribe by mail with a confirmation, get one mail about an outage also over kill -9, and leave by one click', async () => {
  await using smtp = await startSmtp();
  await using target = await startHttpTarget();
  await using program = await createProgram();
  const settings = config(new URL(target.url).host, smtp.port, await closedPort());
  let running = await program.start(settings);
  const path = '/status/status/subscribe';
  const post = async (to: string, body: URLSearchParams | FormData | null, headers: Record<string, string> = {}) =>
    fetch(`${running.url}${to}`, { method: 'POST', body, headers });
  const own = () => ({ 'sec-fetch-site': 'same-origin' });
  const subscribe = async (address: string, headers: Record<string, string> = {}) =>
    post(path, new URLSearchParams({ address }), { ...own(), ...headers });
  const german = { 'accept-language': 'de' };

  const form = await (await fetch(`${running.url}${path}`, { headers: german })).text();
  expect(form).toContain('<input type="email"');
  expect(form).toContain('Per E-Mail abonnieren');
  expect(await (await fetch(`${running.url}/status`)).text()).toContain(`<a href="${path}">Subscribe by mail</a>`);
  expect((await fetch(`${running.url}/status/other/subscribe`)).status).toBe(404);
  expect(
    (await post(path, new URLSearchParams({ address: 'a@example.com' }), { 'sec-fetch-site': 'cross-site' })).status,
  ).toBe(403);
  for (const bad of [
    '',
    'x',
    'a@b@c',
    'a b@example.com',
    'a@example.com,b@example.com',
    `${'x'.repeat(250)}@example.com`,
  ])
    expect([bad, (await subscribe(bad)).status]).toEqual([bad, 400]);

  const first = await subscribe('Ann@Example.com', german);
  expect(first.status).toBe(200);
  const answer = await first.text();
  const [confirmation] = await smtp.mails(1);
  expect(confirmation?.recipient).toBe('ann@example.com');
  expect(confirmation?.mail.subject).toBe('Example: Anmeldung bestätigen');
  const confirm = linkIn(confirmation?.mail.text, 'confirm');

  // Whoever asks again learns nothing, and the address gets nothing.
  const again = await subscribe('ann@example.com', german);
  expect([again.status, await again.text()]).toEqual([200, answer]);

  // A program that follows links confirms nothing; the button does.
  expect(await (await fetch(`${running.url}${confirm}`, { headers: german })).text()).toContain(
    '<button>Bestätigen</button>',
  );
  const confirmedAt = () => query(program.database, 'SELECT address, confirmed_at FROM subscribers');
  expect(confirmedAt()).toEqual([{ address: 'ann@example.com', confirmed_at: null }]);
  expect((await post(confirm, null)).status).toBe(200);
  expect(confirmedAt()).toEqual([{ address: 'ann@example.com', confirmed_at: expect.any(Number) }]);
  const third = await subscribe('ann@example.com', german);
  expect([third.status, await third.text()]).toEqual([200, answer]);
  for (const wrong of [
    confirm.replace('confirm', 'unsubscribe'),
    confirm.replace('/status/status/', '/status/other/'),
    `${confirm}x`,
  ])
    expect((await post(wrong, null)).status).toBe(404);
  // The addresses of links are not written into the log.
  expect(JSON.stringify(running.log)).not.toContain(confirm.slice(-20));

  const listed = await commandHere(['status', 'subscribers', '--config', `${program.folder}/watchpost.yaml`]);
  expect(listed.out).toMatch(/ann@example\.com\s+de\s+20/);
  expect(listed.out).toContain('1 confirmed, 0 not confirmed');
  const remove = async (who: string) =>
    commandHere(['status', 'unsubscribe', who, '--config', `${program.folder}/watchpost.yaml`]);
  expect(await remove('nobody@example.com')).toMatchObject({
    code: 2,
    err: expect.stringContaining('there is no subscriber'),
  });

  // Five in an hour from one network, four of which there were.
  expect((await subscribe('bob@example.com')).status).toBe(200);
  await smtp.mails(2);
  expect((await subscribe('eve@example.com')).status).toBe(200);
  await smtp.mails(3);
  expect((await remove('Eve@example.com')).out).toBe('eve@example.com is removed from the page status\n');
  expect((await subscribe('mallory@example.com')).status).toBe(429);

  // The mail server is away when the outage begins, and the program is killed while the mail waits.
  await eventually(30_000, async () =>
    expect(await (await fetch(`${running.url}/status.json`)).json()).toMatchObject({ status: 'up' }),
  );
  await smtp.stop();
  await target.stop();
  await eventually(120_000, () =>
    expect(query(program.database, 'SELECT attempts FROM subscription_mails')).toEqual([
      { attempts: expect.any(Number) },
    ]),
  );
  await running.end('SIGKILL');
  running = await program.start(settings);
  await smtp.start();
  const mails = await smtp.mails(4);
  const outage = mails[3];
  expect(outage?.recipient).toBe('ann@example.com');
  expect(outage?.mail.subject).toMatch(/^Example: Web shop ist seit .* gestört\.$/);
  expect(outage?.mail.text).not.toMatch(/secret|Inside|127\.0\.0\.1/);
  const leave = linkIn(outage?.mail.text, 'unsubscribe');
  const header = (name: string) => outage?.mail.headers.find(({ key }) => key === name)?.value;
  expect(header('list-unsubscribe')).toBe(`<http://hub.example${leave}>`);
  expect(header('list-unsubscribe-post')).toBe('List-Unsubscribe=One-Click');
  await eventually(30_000, () => expect(query(program.database, 'SELECT id FROM subscription_mails')).toEqual([]));

  // A mail program leaves with one POST, of either type that RFC 8058 allows, and without a cookie.
  const oneClick = new FormData();
  oneClick.set('List-Unsubscribe', 'One-Click');
  expect((await post(leave, oneClick)).status).toBe(200);
  expect(confirmedAt().map(({ address }) => address)).not.toContain('ann@example.com');
  expect((await post(leave, new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }))).status).toBe(404);
  expect(smtp.received).toHaveLength(4);
});
