import { expect, test } from 'vitest';
import type { CheckState } from '../../../src/api-client/shapes.ts';
import { fakeNodes, places, startService, threadNodes, waiting } from '../../support/check-service.ts';
import { eventually } from '../../support/program.ts';

const here = places.slice(0, 1);
const json = { 'content-type': 'application/json', accept: 'application/json' };
const access = { allowPrivate: true };

async function start(url: string, body: object): Promise<CheckState> {
  const answer = await fetch(`${url}/api/v1/checks`, { method: 'POST', headers: json, body: JSON.stringify(body) });
  expect(answer.status).toBe(201);
  return (await answer.json()) as CheckState;
}

async function follow(url: string, id: string, etag: string | null) {
  const headers = { accept: 'application/json', ...(etag !== null && { 'if-none-match': etag }) };
  const answer = await fetch(`${url}/api/v1/checks/${id}?wait=20`, { headers });
  const check = answer.status === 304 ? null : ((await answer.json()) as CheckState);
  return { check, etag: answer.headers.get('etag') };
}

test('a caller that waits for news reads an mtr while it measures, and then its outcome', async () => {
  await using service = await startService({ transport: await threadNodes(here), access });
  const options = { protocol: 'tcp', port: 9, packets: 8, interval: '300ms', timeout: '500ms' };
  const { id, results } = await start(service.url, { type: 'mtr', host: '127.0.0.1', options });
  expect(results).toMatchObject([{ outcome: null }]);
  expect(results[0]).not.toHaveProperty('raw_output');
  const seen: CheckState['results'][number][] = [];
  let etag: string | null = `"${id}-0"`;
  for (let state = 'running'; state === 'running';) {
    const next = await follow(service.url, id, etag);
    ({ etag } = next);
    if (next.check === null) continue;
    ({ state } = next.check);
    seen.push(...next.check.results);
  }
  const last = seen.pop();
  expect(last).toMatchObject({ outcome: { status: 'up', facts: { hops: 1 } } });
  expect(last).not.toHaveProperty('interim');
  expect(last?.raw_output).toMatch(/^HOST: de1 +Loss%[^\n]*\n {2}1\.\|-- 127\.0\.0\.1 +0\.0% +8 /);
  expect(seen.length).toBeGreaterThan(0);
  for (const { outcome, interim, raw_output: raw } of seen) {
    expect(outcome).toBeNull();
    expect(interim).toMatchObject({ path: { end: 'measuring', hops: [{ hop: 1 }] }, figures: [{ loss: 0 }] });
    expect(raw).toMatch(/^ {2}1\.\|-- 127\.0\.0\.1 +0\.0% +[1-8] /m);
  }
});

test('strangers see no private router in interim results, and a node that does not finish leaves none', async () => {
  const probe = { address: '10.0.0.1', seconds: 0.001, kind: 'time_exceeded' };
  const path = { protocol: 'icmp', port: null, address: '9.9.9.9', family: 4, hops: [{ hop: 1, probes: [probe] }] };
  const transport = fakeNodes(here, waiting);
  const passing: typeof transport = {
    ...transport,
    async run(node, command, signal, listener) {
      expect(command.wantsInterim).toBe(true);
      listener?.onInterim?.({ ...path, end: 'measuring', mtu: null });
      return transport.run(node, command, signal);
    },
  };
  await using service = await startService({ transport: passing, access: { allowPrivate: false } });
  const { id } = await start(service.url, { type: 'traceroute', host: '9.9.9.9' });
  const [result] = await eventually(30_000, async () => {
    const { check } = await follow(service.url, id, `"${id}-0"`);
    expect(check?.results[0]).toHaveProperty('interim');
    return check?.results ?? [];
  });
  expect(JSON.stringify(result)).not.toContain('10.0.0.1');
  expect(result?.raw_output).toContain(' 1  (hidden)  1.000 ms\n');
  const page = await fetch(`${service.url}/check-report/${id}`, { headers: { accept: 'text/html' } });
  expect(await page.text()).toMatch(/\(hidden\) +1 ms/);
  await service.checks.close();
  const ended = service.checks.find(id)?.results;
  expect(ended).toMatchObject([{ outcome: { status: 'unknown', failure: { source: 'service' } } }]);
  expect(ended?.[0]).not.toHaveProperty('interim');
});

test('nodes are asked for interim results only by the types that have them', async () => {
  const transport = fakeNodes(here, waiting);
  await using service = await startService({ transport, access });
  await start(service.url, { type: 'ping', host: '127.0.0.1' });
  expect(transport.commands.map(({ command }) => command.wantsInterim)).toEqual([undefined]);
});
