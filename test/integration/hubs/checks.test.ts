import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { runTag } from '#hubs/run-tag.ts';
import { type Fleet, type FleetHub, startFleet } from '../../support/fleet.ts';
import { natsObstacle } from '../../support/nats-server.ts';
import { eventually } from '../../support/program.ts';

const obstacle = natsObstacle();
const named = (name: string) => `${name}${obstacle === null ? '' : ` (${obstacle})`}`;

interface Started {
  readonly ok: number;
  readonly request_id: string;
}

const start = async ({ url }: FleetHub, target: string) => {
  const answer = await fetch(`${url}/check-http?host=${encodeURIComponent(target)}`, {
    headers: { accept: 'application/json' },
  });
  return {
    status: answer.status,
    body: (await answer.json()) as Started,
    retryAfter: answer.headers.get('retry-after'),
  };
};

const ask = async ({ url }: FleetHub, path: string, accept = 'application/json') => {
  const answer = await fetch(`${url}${path}`, { headers: { accept } });
  return { status: answer.status, text: await answer.text(), retryAfter: answer.headers.get('retry-after') };
};

const withService = (config: string) => `${config}service: {}\n`;

interface Pair {
  readonly fleet: Fleet;
  readonly a: FleetHub;
  readonly b: FleetHub;
}

const knowsNode = async (hub: FleetHub) =>
  eventually(30_000, async () => expect((await ask(hub, '/nodes/hosts')).text).toContain('us1'));

async function startPair(edit = withService): Promise<Pair> {
  const fleet = await startFleet();
  const [a, b] = [fleet.hub('a'), fleet.hub('b')];
  await a.start(edit);
  await fleet.leader();
  await b.start(edit);
  await b.running?.logged(/the history is that of the other hubs/);
  await knowsNode(b);
  return { fleet, a, b };
}

async function askEitherHub({ fleet, a, b }: Pair): Promise<void> {
  const [onB, onA] = [await start(b, fleet.target.url), await start(a, fleet.target.url)];
  expect(onB).toMatchObject({ status: 200, body: { ok: 1 } });
  expect(onB.body.request_id.slice(0, 4)).toBe(runTag('b'));
  expect(onA.body.request_id.slice(0, 4)).toBe(runTag('a'));
  for (const hub of [a, b])
    for (const { body } of [onA, onB]) {
      const found = await ask(hub, `/check-result/${body.request_id}?wait=10`);
      expect(found.status).toBe(200);
      expect(JSON.stringify(JSON.parse(found.text))).toContain('"us1');
      expect(found.text).toContain('OK');
      expect((await ask(hub, `/api/v1/checks/${body.request_id}`)).text).toContain('"state":"finished"');
      expect((await ask(hub, `/check-report/${body.request_id}`, 'text/html')).text).toContain('<html');
    }
  const events = await ask(a, `/check-result/${onB.body.request_id}/events`);
  expect(events.text).toMatch(/event: result[\s\S]*event: done/);
  for (const hub of [a, b]) {
    expect((await ask(hub, `/check-result/${runTag('b')}${'x'.repeat(20)}`)).status).toBe(404);
    expect((await ask(hub, `/check-result/${'x'.repeat(24)}`)).status).toBe(404);
    expect((await ask(hub, `/check-result/${'x'.repeat(20)}`)).status).toBe(404);
  }
  const gone = onB.body.request_id;
  b.running?.process.kill('SIGSTOP');
  const silent = await ask(a, `/check-result/${gone}`);
  expect(silent).toMatchObject({ status: 503, retryAfter: '5' });
  b.running?.process.kill('SIGCONT');
  await b.running?.end('SIGKILL');
  const dead = await ask(a, `/check-result/${gone}`);
  expect(dead.status).toBe(503);
  expect(dead.text).toContain('the hub that has this check does not answer');
  await b.start(withService);
  await fleet.agreed();
  await knowsNode(b);
  await eventually(30_000, async () => expect((await ask(a, `/check-result/${gone}`)).status).toBe(200));
}

async function followEvents({ a, b }: Pair): Promise<void> {
  const held: ServerResponse[] = [];
  const server = createServer((_request, response) => void held.push(response)).listen(0, '127.0.0.1');
  using _server = {
    [Symbol.dispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const { body } = await start(b, `http://127.0.0.1:${port}/`);
  await eventually(10_000, () => expect(held).toHaveLength(1));

  const answer = await fetch(`${a.url}/check-result/${body.request_id}/events`);
  expect(answer.headers.get('content-type')).toMatch(/^text\/event-stream/);
  const events = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  expect((await events?.read())?.value).toBe('retry: 2000\n\n');
  held[0]?.end('x'.repeat(1_000));
  let text = '';
  for (let part = await events?.read(); part?.done === false; part = await events?.read()) text += part.value;
  expect(text).toMatch(/^event: result[\s\S]*us1[\s\S]*event: done/);
}

async function checkWithoutLeader({ fleet, a, b }: Pair): Promise<void> {
  await a.running?.end('SIGKILL');
  const { status, body } = await start(b, fleet.target.url);
  expect(status).toBe(200);
  await eventually(10_000, async () => expect((await ask(b, `/check-result/${body.request_id}`)).text).toContain('OK'));
  await fleet.leader('a');
  await eventually(30_000, async () => {
    const later = await start(b, fleet.target.url);
    expect(later.status).toBe(200);
    expect((await ask(b, `/check-result/${later.body.request_id}?wait=5`)).text).toContain('OK');
  });
  expect((await ask(b, `/check-result/${body.request_id}`)).text).toContain('OK');
}

test.skipIf(obstacle !== null).concurrent(
  named('each hub starts checks, also while none leads, answers for those of the other, and passes on their events'),
  async () => {
    const pair = await startPair();
    await using _ = pair.fleet;
    await followEvents(pair);
    await askEitherHub(pair);
    await checkWithoutLeader(pair);
  },
  240_000,
);

test.skipIf(obstacle !== null).concurrent(
  named('what one hub has granted is not granted by another once more'),
  async () => {
    const limits = 'service: { limits: { per_client: 3/h } }\n';
    const { fleet, a, b } = await startPair((config) => `${config}${limits}`);
    await using _ = fleet;
    const count = { granted: 0, refused: 0 };
    for (let turn = 0; turn < 8; turn += 1) {
      const { status } = await start(turn % 2 === 0 ? a : b, fleet.target.url);
      count[status === 200 ? 'granted' : 'refused'] += 1;
      await sleep(1_000);
    }
    expect(count).toEqual({ granted: 3, refused: 5 });
  },
  180_000,
);
