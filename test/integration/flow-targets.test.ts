import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { createProgram, eventually } from '../support/program.ts';

test('the daemon goes through flows: up, and down at the step that fails, without secrets', async () => {
  await using stack = new AsyncDisposableStack();
  const answer = (request: IncomingMessage, response: ServerResponse, body: string) => {
    if (request.url === '/login' && body === 'password=hunter2-hunter2')
      return response.setHeader('set-cookie', 'session=abcdefgh').end('{"id":"42"}');
    if (request.url === '/items/42' && request.headers.cookie === 'session=abcdefgh') return response.end('ok');
    response.writeHead(403, `no ${body}`);
    return response.end();
  };
  const server = createServer(
    (request, response) => void text(request).then((body) => answer(request, response, body)),
  );
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  stack.defer(() => void server.close());
  const host = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const program = stack.use(await createProgram());
  const { url } = await program.start(`
data: watchpost.db
http: { listen: 127.0.0.1:0 }
defaults: { every: 1s }
targets:
  good:
    check: flow
    host: ${host}
    values: { password: hunter2-hunter2 }
    steps: &steps
      - { name: login, url: /login, method: POST, body: "password={{password}}", capture: { id: { json: $.id } } }
      - { name: item, url: "/items/{{id}}" }
  bad: { check: flow, host: "${host}", values: { password: hunter2-wrong }, steps: *steps }
`);
  await eventually(60_000, async () => {
    const metrics = await (await fetch(`${url}/metrics`)).text();
    expect(metrics).toMatch(/^watchpost_up\{target="good",check="flow",node="zz1"\} 1$/m);
    expect(metrics).toMatch(/^watchpost_up\{target="bad",check="flow",node="zz1"\} 0$/m);
    expect(metrics).toMatch(/^watchpost_check_phase_seconds\{target="good",node="zz1",phase="first_byte"\} /m);
  });
  const page = await eventually(60_000, async () => {
    const shown = await (await fetch(`${url}/targets/bad`)).text();
    expect(shown).toContain('step 1 (login): 403 no password=***');
    return shown;
  });
  expect(page).not.toContain('hunter2');
}, 180_000);
