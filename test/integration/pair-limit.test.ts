import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createProgram, eventually } from '../support/program.ts';
import { samplesOf } from '../support/samples.ts';
import { tcpServer } from '../support/tcp-servers.ts';

test('metrics are summed over nodes beyond metrics.pair_limit, and are of each node again after a reload', async () => {
  await using server = await tcpServer((socket) => socket.end());
  await using program = await createProgram();
  const config = (limit: number) => `
data: watchpost.db
http: { listen: 127.0.0.1:0 }
nodes: { de1: {}, us1: {} }
metrics: { pair_limit: ${limit} }
targets: { port: { check: tcp, host: "127.0.0.1:${server.port}", every: 1s } }
`;
  const running = await program.start(config(1));
  const scrape = async () => (await fetch(`${running.url}/metrics`)).text();
  const total = 'watchpost_check_results_total{target="port",check="tcp",outcome="up",reason="none"}';
  const summed = await eventually(20_000, async () => {
    const text = await scrape();
    expect(samplesOf(text).get(total)).toBeGreaterThan(1);
    for (const node of ['de1', 'us1'])
      expect(text).toContain(`watchpost_up{target="port",check="tcp",node="${node}"} 1`);
    return text;
  });
  expect(samplesOf(summed).get('watchpost_metrics_nodes_summed')).toBe(1);
  expect(summed).not.toContain('watchpost_check_phase_seconds{');
  expect(summed).toContain('watchpost_check_duration_seconds_count{target="port",check="tcp"}');
  // Written for many, whether or not they take it packed.
  for (const encoding of ['gzip', 'identity']) {
    const kept = await fetch(`${running.url}/metrics`, { headers: { 'accept-encoding': encoding } });
    expect(kept.headers.get('age')).toMatch(/^\d+$/);
    expect(kept.headers.get('content-encoding')).toBe(encoding === 'gzip' ? 'gzip' : null);
    const samples = samplesOf(await kept.text());
    expect(samples.get('watchpost_metrics_nodes_summed')).toBe(1);
    const age = Date.now() / 1_000 - (samples.get('watchpost_metrics_written_timestamp_seconds') ?? 0);
    expect(age).toBeLessThan(Number(kept.headers.get('age')) + 2);
    expect(age).toBeGreaterThanOrEqual(Number(kept.headers.get('age')) - 2);
  }
  const line = await running.logged(/^too many pairs of target and node/);
  expect(line).toMatchObject({ level: 'warn', pairs: 2, limit: 1 });

  await writeFile(join(program.folder, 'watchpost.yaml'), config(2));
  const answer = await fetch(`${running.url}/-/reload`, { method: 'POST' });
  expect(await answer.json()).toMatchObject({ ok: 1, needsRestart: [] });
  await eventually(20_000, async () => {
    const text = await scrape();
    expect(text).toContain('watchpost_up{target="port",check="tcp",node="de1"} 1');
    expect(text).toContain('watchpost_up{target="port",check="tcp",node="us1"} 1');
    expect(text).not.toContain(total);
    expect(samplesOf(text).get('watchpost_metrics_nodes_summed')).toBe(0);
  });
});
