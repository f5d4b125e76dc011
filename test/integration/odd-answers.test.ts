import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { serveHttp } from '../support/http-servers.ts';
import { createProgram, eventually } from '../support/program.ts';
import { talkingServer } from '../support/talking-server.ts';

const signOn = `/sign-on?SAMLRequest=${'a'.repeat(4_000)}`;

// Answers that browsers take, and that are odd all the same.
function answer({ method, url, headers }: IncomingMessage, response: ServerResponse): void {
  const { cookie } = headers;
  if (url === '/long') response.writeHead(302, { location: signOn }).end();
  else if (url === signOn) response.end();
  else if (url === '/hook')
    response.writeHead(method === 'POST' && headers['content-length'] === '0' ? 200 : 411).end();
  else if (url === '/empty') response.writeHead(204, { 'content-encoding': 'gzip' }).end();
  else if (cookie === 'session=1') response.end('welcome');
  else response.writeHead(302, { location: '/', 'set-cookie': 'session=1; Expires=0' }).end();
}

test('the daemon takes odd answers of healthy servers, and no answer of a database that refuses every user', async () => {
  await using server = await serveHttp(answer);
  const error = 'SFATAL\0VFATAL\0C57P03\0Mthe database system is starting up\0\0';
  await using starting = await talkingServer([
    { hear: 'watchpost' },
    { say: Buffer.concat([Buffer.from([0x45, 0, 0, 0, 4 + error.length]), Buffer.from(error)]) },
  ]);
  await using program = await createProgram();
  const host = `http://127.0.0.1:${server.port}`;
  const { url } = await program.start(`
data: watchpost.db
http: { listen: 127.0.0.1:0 }
defaults: { every: 1s }
targets:
  long: { check: http, host: "${host}/long", redirects: 1, expect: { status: 200 } }
  hook: { check: http, host: "${host}/hook", method: POST }
  empty: { check: http, host: "${host}/empty", expect: { body: { not_contains: error } } }
  cookie: { check: flow, host: "${host}", steps: [{ redirects: 1, expect: { body: { contains: welcome } } }, { expect: { status: 200 } }] }
  starting: { check: tcp, host: "${starting.host}", preset: postgres }
`);
  await eventually(60_000, async () => {
    const metrics = await (await fetch(`${url}/metrics`)).text();
    for (const target of ['long', 'hook', 'empty', 'cookie'])
      expect(metrics).toMatch(new RegExp(`^watchpost_up\\{target="${target}",check="\\w+",node="zz1"\\} 1$`, 'm'));
    expect(metrics).toMatch(/^watchpost_up\{target="starting",check="tcp",node="zz1"\} 0$/m);
  });
}, 180_000);
