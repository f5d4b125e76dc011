import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { Incident, IncidentDetail, TargetFigures } from '#web/history-shapes.ts';
import { command, commandHere } from '../support/command.ts';
import { startHttpTarget } from '../support/http-target.ts';
import { createProgram, eventually } from '../support/program.ts';
import { closedPort } from '../support/tcp-servers.ts';

test.concurrent('excluded time counts for nothing wherever uptime is, and a killed program still knows', async () => {
  await using program = await createProgram();
  const config = `
data: watchpost.db
http: { listen: 127.0.0.1:${await closedPort()} }
defaults: { every: 1s, timezone: Europe/Berlin }
targets:
  shop: { check: tcp, host: "127.0.0.1:${await closedPort()}", timeout: 900ms, objective: 99.9% over 1d }
`;
  const path = join(program.folder, 'watchpost.yaml');
  const watchpost = async (...args: string[]) => commandHere([...args, '--config', path]);
  const asProcess = async (...args: string[]) => command([...args, '--config', path]);
  const read = async <Shape>(url: string, shape: z.ZodType<Shape>) => shape.parse(await (await fetch(url)).json());
  async function figuresOf(url: string) {
    const { target } = await read(
      `${url}/api/v1/targets/shop`,
      z.object({ target: z.object({ figures: TargetFigures }) }),
    );
    const { time, budget } = target.figures;
    if (time === null || budget === null) throw new Error('there is no time or no budget');
    return { time, budget };
  }
  const spent = async (url: string) => {
    const text = await (await fetch(`${url}/metrics`)).text();
    const left = Number(/^watchpost_objective_budget_left_ratio\{target="shop"[^}]*\} (\S+)$/m.exec(text)?.[1]);
    return (1 - left) * 86.4;
  };

  const first = await program.start(config);
  await eventually(30_000, async () => expect((await figuresOf(first.url)).time.down).toBeGreaterThan(3));
  const { incidents } = await read(`${first.url}/api/v1/incidents`, z.object({ incidents: z.array(Incident).min(1) }));
  const incident = Incident.parse(incidents[0]);
  const from = Date.parse(incident.started_at) - 1_000;
  const to = from + 3_500;
  const iso = (at: number) => new Date(at).toISOString();
  const before = await figuresOf(first.url);

  expect(await watchpost('exclude', 'shp', `${iso(from)}..${iso(to)}`, 'x')).toMatchObject({
    code: 2,
    err: expect.stringContaining('there is no target shp (did you mean "shop"?)'),
  });
  expect(await watchpost('exclude', 'shop', '25:00..26:00', 'x')).toMatchObject({ code: 2 });
  const added = await watchpost('exclude', 'shop', `${iso(from)}..${iso(to)}`, 'the provider failed');
  expect(added).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^\w{8} {2}shop from .* \+01:00 to .* \+01:00 does not count for uptime\n$/),
  });
  const id = added.out.slice(0, 8);
  expect((await figuresOf(first.url)).time.excluded).toBeCloseTo(3.5, 3);
  await eventually(10_000, async () => {
    const { time, budget } = await figuresOf(first.url);
    expect(budget.spent_seconds).toBeCloseTo(time.down, 1);
    expect(Math.abs((await spent(first.url)) - time.down)).toBeLessThan(2);
  });
  await first.end('SIGKILL');

  const next = await program.start(config);
  expect((await asProcess('exclusions', 'list')).out).toMatch(new RegExp(`^${id} +shop .*the provider failed$`, 'm'));
  const { url } = next;
  const after = await figuresOf(url);
  expect(after.time.excluded).toBeCloseTo(3.5, 3);
  expect(before.time.excluded).toBe(0);
  const { incident: detail } = await read(
    `${url}/api/v1/incidents/${incident.id}`,
    z.object({ incident: IncidentDetail }),
  );
  expect(detail).toMatchObject({
    ended_at: null,
    exclusions: [{ id, target: 'shop', from: iso(from), to: iso(to), why: 'the provider failed' }],
  });
  const page = await (await fetch(`${url}/incidents/${incident.id}`)).text();
  expect(page).toContain('Excluded from uptime');
  expect(page).toContain('the provider failed');
  const { out } = await asProcess('report', '--month', iso(from).slice(0, 7));
  expect(out).toMatch(/^excluded from uptime: shop, .*: the provider failed$/m);
  const report: unknown = JSON.parse((await watchpost('report', '--month', iso(from).slice(0, 7), '--json')).out);
  expect(report).toMatchObject({ targets: [{ target: 'shop', seconds: { excluded: 3.5 } }], exclusions: [{ id }] });

  expect(await asProcess('exclusions', 'remove', id)).toMatchObject({ code: 0 });
  expect((await figuresOf(url)).time.excluded).toBe(0);
  expect(await watchpost('exclusions', 'remove', id)).toMatchObject({ code: 2 });
  expect((await watchpost('exclusions', 'list')).out).toBe('no exclusions\n');
  expect(await next.end('SIGTERM')).toEqual({ code: 0, signal: null });
}, 120_000);

const Status = z.object({ services: z.array(z.object({ uptime_90d: z.number().nullable() })).length(1) });

test.concurrent('status pages and badges, which remember for minutes how it was, show it without excluded time at once', async () => {
  await using target = await startHttpTarget();
  await using program = await createProgram();
  const { url } = await program.start(`
data: watchpost.db
http: { listen: 127.0.0.1:${await closedPort()} }
defaults: { every: 1s }
targets:
  shop: { check: http, host: "${target.url}", timeout: 900ms }
pages: { status: { title: Status, targets: { shop: Shop } } }
`);
  const path = join(program.folder, 'watchpost.yaml');
  const get = async (of: string) => (await fetch(`${url}${of}`)).text();
  const uptime = async () => Status.parse(JSON.parse(await get('/status.json'))).services[0]?.uptime_90d ?? null;
  const state = async (one: string) => expect(await get('/metrics')).toContain(`{target="shop",state="${one}"} 1`);
  await eventually(30_000, async () => state('up'));
  await target.stop();
  const List = z.object({ incidents: z.array(Incident).min(1) });
  const incident = async () => List.parse(JSON.parse(await get('/api/v1/incidents'))).incidents[0];
  await eventually(30_000, incident);
  await target.start();
  const ended = await eventually(30_000, async () =>
    z.object({ started_at: z.string(), ended_at: z.string() }).parse(await incident()),
  );
  await eventually(10_000, async () => expect(await uptime()).toBeLessThan(1));
  expect(await get('/badge/status/shop/uptime.svg')).not.toContain('100 %');

  const from = Date.parse(ended.started_at) - 1_000;
  const span = `${new Date(from).toISOString()}..${ended.ended_at}`;
  expect(await command(['exclude', 'all', span, 'a deployment', '--config', path])).toMatchObject({ code: 0, err: '' });
  await eventually(10_000, async () => expect(await uptime()).toBe(1));
  expect(await get('/badge/status/shop/uptime.svg')).toContain('100 %');
}, 120_000);
