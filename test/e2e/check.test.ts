import { createServer } from 'node:https';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { issue } from '../support/certificates.ts';
import { command } from '../support/command.ts';
import { replayService } from '../support/fake-service.ts';
import { createProgram, eventually } from '../support/program.ts';
import { samplesOf } from '../support/samples.ts';
import { closedPort } from '../support/tcp-servers.ts';

test('the certificate of a self-signed server is named as what is wrong', async () => {
  const server = createServer({ ...(await issue({ ips: ['127.0.0.1'] })) }, (_, response) => response.end('ok'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const bound = server.address();
  const port = typeof bound === 'object' ? bound?.port : null;
  try {
    const { code, out, err } = await command(['check', 'http', `https://127.0.0.1:${port}`]);
    expect({ code, err }).toEqual({ code: 1, err: '' });
    expect(out).toMatch(
      /^DOWN {2}http https:\/\/127\.0\.0\.1:\d+\n {2}the certificate is not trusted: it is self-signed\n/,
    );
    expect(out).toContain("(certificate_untrusted: the target's fault)");
    expect(out).toMatch(/^ {4}tls +[\d.]+ [mµ]s$/m);
    expect(out).toMatch(/^ {2}certificate +CN=Test server$/m);
    const lenient = await command(['check', 'http', `https://127.0.0.1:${port}`, '--no-tls-verify']);
    expect(lenient.code).toBe(0);
    expect(lenient.out).toMatch(/^ {2}status +200 OK, HTTP\/1\.1$/m);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

test('a ping shows its four attempts', async (context) => {
  const { code, out } = await command(['check', 'ping', '127.0.0.1']);
  if (out.includes('(unsupported: ')) {
    if (process.env['CI'] !== undefined) throw new Error(out);
    context.skip(`ping is not possible here: ${out}`);
  }
  expect(code).toBe(0);
  expect(out.match(/^ {2}#[1-4] {2}OK +[\d.]+ [mµ]s +TTL \d+$/gm)).toHaveLength(4);
  expect(out).toContain('4 sent, 4 answered, 0% lost');
  // The first reply of a fresh process waits half a second to be read: that must not be taken for its round trip.
  const times = [...out.matchAll(/ OK +([\d.]+) ms/g)].map(([, ms]) => Number(ms));
  expect(Math.max(0, ...times)).toBeLessThan(400);
});

test('a closed udp port is refused', async () => {
  const { code, out } = await command(['check', 'udp', `127.0.0.1:${await closedPort()}`]);
  expect(code).toBe(1);
  expect(out).toMatch(/refused/);
});

test('the gate refuses a private address in any spelling where the policy is public', async () => {
  const { code, out } = await command(['check', 'tcp', '0x7f.1:22', '--policy', 'public']);
  expect(code).toBe(3);
  expect(out).toMatch(
    /^UNKNOWN {2}tcp 127\.0\.0\.1:22\n {2}127\.0\.0\.1 is refused: this node checks public addresses only\n/,
  );
  expect(out).toContain("(forbidden: this machine's doing, not the target's)");
});

test('the help of the program names every command', async () => {
  const { code, out } = await command(['--help']);
  expect(code).toBe(0);
  expect(out).toMatch(/run[^]*check[^]*config/);
});

test('a monitor on the nodes of another service has their names, places and results in its metrics', async () => {
  await using service = await replayService([
    {
      'us1.node.example.net': [{ time: 0.05, address: '192.0.2.80' }],
      'de1.node.example.net': [{ error: 'Connection refused' }],
    },
  ]);
  await using program = await createProgram();
  const running = await program.start(`
    data: watchpost.db
    http: { listen: 127.0.0.1:0 }
    service: { url: "${service.url}" }
    targets: { shop: { check: tcp, host: "example.com:443", every: 5s } }`);
  await eventually(20_000, async () => {
    const metrics = samplesOf(await (await fetch(`${running.url}/metrics`)).text());
    expect(
      metrics.get('watchpost_node_info{node="us1",country="Country",city="City of us1",asn="AS64500",version=""}'),
    ).toBe(1);
    const results = 'watchpost_check_results_total{target="shop",check="tcp"';
    expect(metrics.get(`${results},node="us1",outcome="up",reason="none"}`)).toBeGreaterThan(0);
    expect(metrics.get(`${results},node="de1",outcome="down",reason="refused"}`)).toBeGreaterThan(0);
  });
  expect((await fetch(`${running.url}/readyz`)).status).toBe(200);
  await service[Symbol.asyncDispose]();
  await eventually(20_000, async () => {
    const metrics = samplesOf(await (await fetch(`${running.url}/metrics`)).text());
    const lost = 'outcome="unknown",reason="service_unreachable"}';
    expect(metrics.get(`watchpost_check_results_total{target="shop",check="tcp",node="us1",${lost}`)).toBeGreaterThan(
      0,
    );
    expect(metrics.get('watchpost_target_state{target="shop",state="unknown"}')).toBe(1);
  });
  expect((await running.end('SIGTERM')).code).toBe(0);
});
