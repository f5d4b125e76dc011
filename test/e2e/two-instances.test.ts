import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { command, commandHere } from '../support/command.ts';
import { createProgram, eventually } from '../support/program.ts';
import { samplesOf } from '../support/samples.ts';
import { closedPort, tcpServer } from '../support/tcp-servers.ts';

const nodes = `nodes:
  de7: { location: [de, Germany, Berlin], asn: AS64500 }
  us3: { location: [us, USA, Dallas] }`;

test('one instance watches through the API of another, from the check to the mail', async () => {
  const port = await closedPort();
  await using there = await createProgram();
  const service = await there.start(`
data: watchpost.db
http: { listen: 127.0.0.1:0 }
service: { node_domain: check.example }
${nodes}`);
  await using here = await createProgram();
  const monitor = await here.start(`
data: watchpost.db
http: { listen: 127.0.0.1:0 }
service: { url: "${service.url}" }
targets: { shop: { check: tcp, host: "127.0.0.1:${port}", every: 5s } }
rules: { down: { rounds: 1 } }
notify: { ops: { email: { to: [ops@example.com] }, group_wait: 0s } }`);

  const mail = await eventually(30_000, () => {
    const [file] = globSync('mail/*.eml', { cwd: here.folder });
    if (file === undefined) throw new Error('no mail yet');
    return readFileSync(join(here.folder, file), 'utf8');
  });
  expect(mail).toMatch(/Subject: .*shop/);
  for (const text of ['de7', 'Berlin', 'us3', 'Dallas', 'connection refused']) expect(mail).toContain(text);

  const metrics = samplesOf(await (await fetch(`${monitor.url}/metrics`)).text());
  expect(metrics.get('watchpost_node_info{node="de7",country="Germany",city="Berlin",asn="AS64500",version=""}')).toBe(
    1,
  );
  expect(
    metrics.get('watchpost_check_results_total{target="shop",check="tcp",node="us3",outcome="down",reason="refused"}'),
  ).toBeGreaterThan(0);
  expect((await monitor.end('SIGTERM')).code).toBe(0);
  expect((await service.end('SIGTERM')).code).toBe(0);
});

test('every check type through the API of another instance gives the votes of its nodes', async () => {
  await using server = await tcpServer((socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'));
  await using program = await createProgram();
  const service = await program.start(`
data: watchpost.db
http: { listen: 127.0.0.1:0 }
service: {}
${nodes}`);
  const through = ['--service', service.url];
  const target = `127.0.0.1:${server.port}`;
  const http = await command(['check', 'http', target, ...through]);
  expect(http).toMatchObject({ code: 0, err: '' });
  expect(http.out).toMatch(/^report: http:\/\/127\.0\.0\.1:\d+\/check-report\/\w+$/m);
  expect(http.out).toMatch(/^de7 +Berlin, Germany +up +[\d.]+ [mµ]s +127\.0\.0\.1$/m);
  expect(http.out).toMatch(/^2 up, 0 down, 0 unknown$/m);
  expect((await commandHere(['check', 'tcp', target, ...through, '--node', 'us3'])).out).toMatch(
    /^1 up, 0 down, 0 unknown$/m,
  );
  expect((await commandHere(['check', 'tcp', target, ...through, '--max-nodes', '1'])).out).toMatch(/^1 up/m);
  const udp = await commandHere(['check', 'udp', `127.0.0.1:${await closedPort()}`, ...through]);
  expect(udp).toMatchObject({ code: 1, out: expect.stringMatching(/refused[^]*0 up, 2 down, 0 unknown\n$/) });
  const forbidden = await commandHere(['check', 'tcp', '224.0.0.1:22', ...through]);
  expect(forbidden).toMatchObject({ code: 3, out: expect.stringMatching(/refused/) });
});
