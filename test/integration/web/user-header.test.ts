import { once } from 'node:events';
import { request } from 'node:http';
import { expect, test } from 'vitest';
import { createProgram } from '../../support/program.ts';

/** The status of a page for a connection from this address. */
async function statusFor(url: string, localAddress: string, headers: Readonly<Record<string, string>>) {
  const asked = request(url, { localAddress, headers: { accept: 'text/html', ...headers } }).end();
  const [response] = await once(asked, 'response', { signal: AbortSignal.timeout(20_000) });
  response.resume();
  return Number(response.statusCode);
}

test('a user is let in whom a trusted proxy names, and none whom another client names', async () => {
  await using program = await createProgram();
  const { url } = await program.start(`
data: watchpost.db
http: { listen: 127.0.0.1:0, trust_proxy: [127.0.0.2], user_header: X-Forwarded-User }
defaults: { notify: [] }
targets: { shop: { check: tcp, host: "127.0.0.1:9" } }
`);
  const page = `${url}/incidents`;
  const ann = { 'x-forwarded-user': 'ann' };
  expect(await statusFor(page, '127.0.0.2', ann)).toBe(200);
  for (const refused of [statusFor(page, '127.0.0.1', ann), statusFor(page, '127.0.0.2', {})])
    expect(await refused).toBe(303);
});
