import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createProgram, eventually } from '../support/program.ts';

test('the daemon measures paths: figures, networks from a file, rules and pages', async () => {
  await using program = await createProgram();
  writeFileSync(join(program.folder, 'names.tsv'), '127.0.0.0\t127.255.255.255\t64500\tDE\tLoop Example\n');
  const { url } = await program.start(`
data: watchpost.db
http: { listen: 127.0.0.1:0 }
service: {}
asn_file: names.tsv
defaults: { every: 5s }
targets:
  way: { check: traceroute, host: 127.0.0.1, protocol: udp, timeout: 300ms, rules: [down, short, steady] }
  lossy: { check: mtr, host: 127.0.0.1, protocol: tcp, port: 9, packets: 2, interval: 100ms, timeout: 300ms, rules: [down, short, lossless] }
rules:
  short: { hops: { above: 12 } }
  steady: { answers: changed }
  lossless: { loss: { above: 50% } }
`);
  const figureOf = async (metric: string, target: string) => {
    const lines = (await (await fetch(`${url}/metrics`)).text()).split('\n');
    const line = lines.find((one) => one.startsWith(`${metric}{`) && one.includes(`target="${target}"`));
    return line === undefined ? null : Number(line.slice(line.lastIndexOf(' ') + 1));
  };
  for (const target of ['way', 'lossy']) {
    await eventually(60_000, async () => expect(await figureOf('watchpost_up', target)).toBe(1));
    expect(await figureOf('watchpost_path_hops', target)).toBe(1);
  }
  expect(await figureOf('watchpost_ping_loss_ratio', 'lossy')).toBe(0);
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ type: 'traceroute', host: '127.0.0.1', options: { protocol: 'udp' } });
  const started = await fetch(`${url}/api/v1/checks`, { method: 'POST', headers, body });
  expect(started.status).toBe(201);
  const { id } = (await started.json()) as { id: string };
  await eventually(30_000, async () => {
    const text = await (await fetch(`${url}/api/v1/checks/${id}`)).text();
    expect(text).toContain('"end":"reached"');
    expect(text).toContain('"number":64500,"name":"Loop Example"');
  });
  const page = await (await fetch(`${url}/check-report/${id}`, { headers: { accept: 'text/html' } })).text();
  expect(page).toContain('Loop Example');
}, 120_000);
