import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createProgram, eventually } from '../support/program.ts';
import { serveHttp } from '../support/http-servers.ts';
import { socksServer } from '../support/socks-server.ts';

test('the daemon checks over both families and through a SOCKS proxy, and shows which family is broken', async () => {
  // On IPv4 alone: localhost has both.
  await using web = await serveHttp((_request, response) => void response.end('hello'));
  const credentials = { username: 'wp', password: 'geheim-42' };
  await using proxy = await socksServer({ credentials });
  await using program = await createProgram();
  const secret = join(program.folder, 'proxy-password');
  await writeFile(secret, credentials.password);
  const { url } = await program.start(`
data: watchpost.db
http: { listen: 127.0.0.1:0 }
targets:
  half: { check: http, host: "http://localhost:${web.port}", family: both, every: 1s, timeout: 900ms }
  browser: { check: http, host: "http://localhost:${web.port}", family: happy_eyeballs, every: 1s, timeout: 900ms }
  through: { check: tcp, host: "web.example:${web.port}", proxy: { url: "socks5h://${proxy.host}", username: wp, password_file: ${secret} }, every: 1s, timeout: 900ms }
`);
  const figureOf = async (metric: string, target: string) => {
    const lines = (await (await fetch(`${url}/metrics`)).text()).split('\n');
    const line = lines.find((one) => one.startsWith(`${metric}{`) && one.includes(`target="${target}"`));
    return line === undefined ? null : Number(line.slice(line.lastIndexOf(' ') + 1));
  };
  for (const [target, up] of [
    ['half', 0],
    ['browser', 1],
    ['through', 1],
  ] as const) {
    await eventually(60_000, async () => expect(await figureOf('watchpost_up', target)).toBe(up));
  }
  expect(await figureOf('watchpost_check_family_seconds', 'half')).toBeGreaterThan(0);
  expect(await figureOf('watchpost_check_ip_protocol', 'browser')).toBe(4);
  expect(proxy.asked).toContain('web.example');
  const page = await (await fetch(`${url}/targets/half`)).text();
  expect(page).toContain('IPv6: connection refused; IPv4 answers');
}, 120_000);
