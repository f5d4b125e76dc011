import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { type FleetHub, startFleet } from '../../support/fleet.ts';
import { natsObstacle } from '../../support/nats-server.ts';
import { eventually, query } from '../../support/program.ts';

const obstacle = natsObstacle();
const named = (name: string) => `${name}${obstacle === null ? '' : ` (${obstacle})`}`;

const secret = 'a-secret-of-a-job-that-calls';
const more = `
  backup: { check: heartbeat, every: 1h, secret_hash: ${createHash('sha256').update(secret).digest('hex')} }
pages: { status: { title: Status, targets: { shop: Shop } } }
`;

async function ask({ url }: FleetHub, path: string, body?: object) {
  const answer = await fetch(`${url}${path}`, {
    ...(body !== undefined && {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    }),
  });
  return { status: answer.status, text: await answer.text() };
}

const silencesIn = ({ program }: FleetHub) => query(program.database, 'SELECT id, why FROM silences');

test.skipIf(obstacle !== null)(
  named('a follower serves history, pages and metrics by itself, and has the leader do what changes something'),
  async () => {
    await using fleet = await startFleet({ targets: more });
    const [a, b] = [fleet.hub('a'), fleet.hub('b')];
    await a.start();
    await fleet.leader();
    await b.start();
    await b.running?.logged(/the history is that of the other hubs/);
    await eventually(30_000, async () => {
      const { text } = await ask(b, '/');
      expect(text).toContain('1 of 2 targets is up');
      expect(text).toContain('us1 up');
    });
    expect((await ask(b, '/readyz')).status).toBe(200);
    await eventually(10_000, async () => {
      const { text } = await ask(b, '/metrics');
      expect(text).toMatch(/watchpost_check_last_duration_seconds\{target="shop",check="http",node="us1"\} \d/);
    });
    expect((await ask(b, '/nodes')).text).toContain('us1');

    const silenced = await ask(b, '/-/silences', { targets: ['shop'], for: '1h', why: 'an upgrade' });
    expect(silenced).toMatchObject({ status: 200 });
    expect(silencesIn(a)).toMatchObject([{ why: 'an upgrade' }]);
    await eventually(10_000, () => expect(silencesIn(b)).toEqual(silencesIn(a)));

    expect((await ask(b, `/beat/${secret}`)).status).toBe(200);
    expect(query(a.program.database, 'SELECT heard FROM heartbeats')).toHaveLength(1);

    await ask(b, '/-/notes', { words: 'Works are under way', page: 'status' });
    await eventually(10_000, async () => expect((await ask(b, '/status')).text).toContain('Works are under way'));
    expect((await ask(b, '/-/silences', { targets: ['nothing'], for: '1h', why: 'x' })).status).toBe(404);

    const excluded = { target: 'shop', from: '2026-01-01T10:00:00Z', to: '2026-01-01T11:00:00Z', why: 'provider' };
    expect((await ask(b, '/-/exclusions', excluded)).status).toBe(200);
    await eventually(10_000, async () => {
      const { text } = await ask(b, '/api/v1/targets/shop?from=2026-01-01T00:00:00Z');
      expect(text).toContain('"excluded":3600');
    });

    await a.running?.end('SIGKILL');
    const unled = await ask(b, '/-/silences', { targets: ['shop'], for: '1h', why: 'nobody leads' });
    expect(unled.status).toBe(503);
    expect((await ask(b, '/')).status).toBe(200);
    await fleet.leader('a');
    await eventually(10_000, async () =>
      expect((await ask(b, '/-/silences', { targets: ['shop'], for: '1h', why: 'now b leads' })).status).toBe(200),
    );
    expect(silencesIn(b).map(({ why }) => why)).toEqual(expect.arrayContaining(['an upgrade', 'now b leads']));
  },
  180_000,
);
