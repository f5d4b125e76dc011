import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commandHere } from '../support/command.ts';
import { serveHttp } from '../support/http-servers.ts';
import { createProgram, eventually, query } from '../support/program.ts';
import { startSmtp } from '../support/smtp.ts';
import { startHttpTarget } from '../support/http-target.ts';
import { closedPort, tcpServer } from '../support/tcp-servers.ts';

const refused = /which refuses TCP port \d+/;

test.concurrent('evidence is in a mail that waits for its group, and of one that does not in the next of its thread', async () => {
  await using target = await startHttpTarget();
  await target.stop();
  const { host } = new URL(target.url);
  await using smtp = await startSmtp();
  await using program = await createProgram();
  const { url } = await program.start(`
data: watchpost.db
http: { listen: 127.0.0.1:0 }
smtp: { url: "smtp://127.0.0.1:${smtp.port}", from: alerts@example.com }
nodes: { de1: {}, fr1: {} }
defaults: { every: 2s }
targets: { shop: { check: tcp, host: "${host}", timeout: 900ms } }
notify:
  patient: { email: { to: [patient@example.com] }, group_wait: 8s }
  hasty: { email: { to: [hasty@example.com] }, group_wait: 0s }
`);
  const [first, second] = await smtp.mails(2);
  expect(first?.recipient).toBe('hasty@example.com');
  expect(first?.mail.text).not.toMatch(refused);
  expect(second?.recipient).toBe('patient@example.com');
  expect(second?.mail.text).toMatch(refused);
  expect(second?.mail.html).toMatch(refused);
  await target.start();
  const [, , ...over] = await smtp.mails(4);
  const hasty = over.find(({ recipient }) => recipient === 'hasty@example.com');
  expect(hasty?.mail.subject).toMatch(/^\[RESOLVED\]/);
  expect(hasty?.mail.text).toMatch(/When it failed: .*which refuses TCP port/);

  const [row] = query(program.database, 'SELECT id FROM incidents');
  const id = String(row?.['id']);
  const { incident } = (await (await fetch(`${url}/api/v1/incidents/${id}`)).json()) as {
    readonly incident: { readonly evidence: readonly { readonly nodes: unknown }[] };
  };
  expect(incident.evidence).toHaveLength(1);
  expect(incident.evidence[0]).toMatchObject({
    occasion: 'opened',
    conclusions: [{ text: expect.stringMatching(refused) }],
  });
  expect(incident.evidence[0]?.nodes).toMatchObject([
    { node: 'de1', is_failing: true, failure: 'refused', document: { path: { protocol: 'tcp' } } },
    { node: 'fr1', is_failing: true },
  ]);
  const page = await (await fetch(`${url}/incidents/${id}`, { headers: { accept: 'text/html' } })).text();
  expect(page).toMatch(/<h2>Evidence\b/);
  expect(page).toContain('evidence gathered at de1, fr1');
  expect(page).toMatch(refused);
  expect(await (await fetch(`${url}/incidents/${id}.md`)).text()).toMatch(/## Evidence\n\n- .*refuses TCP port/);
});

test.concurrent('a mail about sixty targets says what was found at those that were examined, and nothing about the others', async () => {
  await using target = await startHttpTarget();
  await target.stop();
  const { host } = new URL(target.url);
  await using smtp = await startSmtp();
  await using program = await createProgram();
  const targets = Array.from({ length: 60 }, (_, index) => `  t${index}: { check: tcp, host: "${host}" }`);
  const { url } = await program.start(`
data: watchpost.db
http: { listen: 127.0.0.1:0 }
smtp: { url: "smtp://127.0.0.1:${smtp.port}", from: alerts@example.com }
nodes: { de1: {} }
defaults: { every: 2s }
targets:
${targets.join('\n')}
notify:
  ops: { email: { to: [ops@example.com] }, group_wait: 10s }
`);
  const [sent] = await smtp.mails(1);
  expect(sent?.mail.subject).toMatch(/^\[DOWN\] 60 targets are down/);
  expect(sent?.mail.text).toMatch(refused);
  expect(sent?.mail.text).not.toContain('No evidence');

  const rows = query(program.database, 'SELECT id FROM incidents');
  const pages = rows.map(async ({ id }) => (await fetch(`${url}/incidents/${String(id)}.md`)).text());
  const saying = (words: RegExp) => (page: string) => words.test(page);
  const all = await Promise.all(pages);
  const examined = all.filter(saying(refused)).length;
  expect(examined).toBeGreaterThanOrEqual(5);
  // Some may have begun before there were so many.
  expect(examined).toBeLessThanOrEqual(50);
  expect(all.filter(saying(/targets fail together, and others were chosen/))).toHaveLength(60 - examined);
});

test.concurrent('a daemon that is killed while evidence is gathered gathers it after the restart, once', async () => {
  await using silent = await tcpServer(() => {});
  await using program = await createProgram();
  const config = `
data: watchpost.db
http: { listen: 127.0.0.1:0 }
nodes: { de1: {} }
defaults: { every: 2s }
targets: { shop: { check: http, host: "http://127.0.0.1:${silent.port}/", timeout: 900ms } }
notify: { ops: { email: { to: [ops@example.com] } } }
`;
  const incidents = () => query(program.database, 'SELECT id FROM incidents').length;
  const gathered = () => query(program.database, 'SELECT DISTINCT gathered_at, occasion FROM evidence');
  const first = await program.start(config);
  await eventually(30_000, () => expect(incidents()).toBe(1));
  await first.end('SIGKILL');
  expect(gathered()).toEqual([]);
  const second = await program.start(config);
  await eventually(40_000, () => expect(gathered()).toHaveLength(1));
  await second.end('SIGTERM');
  const third = await program.start(config);
  // A round after the start.
  await eventually(30_000, async () => {
    const answer = await (await fetch(`${third.url}/api/v1/targets/shop`)).json();
    expect(answer).toMatchObject({ target: { status: 'down' } });
  });
  await third.end('SIGTERM');
  expect(gathered()).toMatchObject([{ occasion: 'opened' }]);
});

test.concurrent('nothing is gathered about targets for which it is disabled, and on demand it says so', async () => {
  const port = await closedPort();
  await using server = await serveHttp((_, response) => response.end('fine'));
  await using program = await createProgram();
  const { url } = await program.start(`
data: watchpost.db
http: { listen: 127.0.0.1:0 }
nodes: { de1: {} }
defaults: { every: 1s }
groups: { quiet: { match: { team: quiet }, evidence: false } }
targets:
  silent: { check: tcp, host: "127.0.0.1:${port}", timeout: 900ms, evidence: false }
  grouped: { check: tcp, host: "127.0.0.1:${port}", timeout: 900ms, labels: { team: quiet } }
  shop: { check: http, host: "http://127.0.0.1:${server.port}/" }
notify: { ops: { email: { to: [ops@example.com] } } }
`);
  const ask = async (target: string) =>
    fetch(`${url}/-/evidence`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ target }),
    });
  await eventually(30_000, async () => {
    const answer = await ask('shop');
    expect(await answer.json()).toMatchObject({ ok: 1, incident: null, evidence: [{ occasion: 'demand' }] });
  });
  // Commands ask the port that the configuration names.
  const config = join(program.folder, 'asks.yaml');
  await writeFile(
    config,
    `http: { listen: ${new URL(url).host} }\ntargets: { shop: { check: tcp, host: "192.0.2.1:1" } }`,
  );
  const asked = await commandHere(['evidence', 'shop', '--config', config]);
  expect(asked).toMatchObject({ code: 0, err: '' });
  expect(asked.out).toMatch(/^nothing can be concluded\n\nde1 sees it up\n[^]*  response +200 OK/);
  const inJson = await commandHere(['evidence', 'shop', '--json', '--config', config]);
  expect(JSON.parse(inJson.out)).toMatchObject({ target: 'shop', evidence: [{ nodes: [{ node: 'de1' }] }] });
  expect(await commandHere(['evidence', 'nothing', '--config', config])).toMatchObject({
    code: 2,
    err: expect.stringContaining('there is no target nothing'),
  });
  const refusal = { ok: 0, message: expect.stringMatching('disabled for this target') };
  for (const name of ['silent', 'grouped']) expect(await (await ask(name)).json()).toMatchObject(refusal);
  expect(await (await ask('nothing')).json()).toMatchObject({ ok: 0, message: 'there is no target nothing' });
  expect(query(program.database, 'SELECT * FROM evidence')).toEqual([]);
  // The healthy one is remembered.
  await eventually(30_000, () =>
    expect(query(program.database, 'SELECT target, node FROM good_evidence')).toEqual([
      { target: 'shop', node: 'de1' },
    ]),
  );
});
