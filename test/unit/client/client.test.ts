import { expect, test } from 'vitest';
import { CheckSpec, type NodeSelection } from '#checks/index.ts';
import { clientOver, type RunProgress } from '#client/client.ts';
import type { RunResult } from '#monitor/watch/runner.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { memoryService, nodeList, type Scripted, type SeenCall, startedOn } from '../../support/memory-service.ts';
import { seededRandom } from '../../support/seeded-random.ts';

const spec = CheckSpec.parse({ type: 'tcp', host: 'example.com:443' });
const us1 = 'us1.node.example.net';
const ch1 = 'ch1.node.example.net';
const up = [{ time: 0.05, address: '192.0.2.80' }];

function setUp(answer: (call: SeenCall) => Scripted | undefined, budget = { count: 60, perMs: 60_000 }) {
  const clock = new FakeClock();
  const service = memoryService(clock, (call) => {
    const own = answer(call);
    if (own !== undefined) return own;
    if (call.path === '/nodes/hosts') return { json: nodeList };
    if (call.path.startsWith('/check-result/')) return { json: { [us1]: up, [ch1]: up } };
    return { json: startedOn(us1, ch1) };
  });
  const { log, lines } = memoryLog();
  const client = clientOver(service.http, { url: 'http://service', budget, clock, random: seededRandom(), log });
  async function run(nodes: NodeSelection = { kind: 'all' }, onProgress?: (progress: RunProgress) => void) {
    const settled: RunResult[] = [];
    const running = client.run({ spec, nodes }, new AbortController().signal, onProgress).then((result) => {
      settled.push(result);
    });
    for (let step = 0; step < 600 && settled.length === 0; step += 1) await clock.advance(250);
    await running;
    const [result] = settled;
    if (result === undefined) throw new Error('the run did not end');
    return result;
  }
  return { ...service, client, clock, run, lines };
}

const votesOf = ({ votes }: RunResult) =>
  votes.map(({ node, outcome }) => [
    node.name,
    outcome.status === 'up' ? 'up' : `${outcome.status} ${outcome.failure.code}`,
  ]);

test('a run starts once, polls, and gives a vote for each node with its place and the link of the report', async () => {
  const { run, pathsOf } = setUp(() => undefined);
  const result = await run();
  expect(votesOf(result)).toEqual([
    ['us1', 'up'],
    ['ch1', 'up'],
  ]);
  expect(result.votes[0]?.node).toEqual({
    name: 'us1',
    countryCode: 'us',
    country: 'Country',
    city: 'City',
    asn: 'AS64500',
    ip: '192.0.2.9',
  });
  expect(result.reportUrl).toBe('https://check.example.net/check-report/r1');
  expect(pathsOf('/check-tcp').map(({ query }) => query.toString())).toEqual(['host=example.com%3A443']);
});

test.each<{ name: string; nodes: NodeSelection; query: string }>([
  { name: 'named nodes', nodes: { kind: 'named', names: ['ch1', 'us1'] }, query: `node=${ch1}&node=${us1}` },
  { name: 'nodes named by their identifier', nodes: { kind: 'named', names: [us1] }, query: `node=${us1}` },
  { name: 'so many nodes', nodes: { kind: 'count', count: 2, avoid: [] }, query: 'max_nodes=2' },
  { name: 'other nodes', nodes: { kind: 'count', count: 1, avoid: ['us1'] }, query: `node=${ch1}` },
])('asks for $name', async ({ nodes, query }) => {
  const { run, pathsOf } = setUp(() => undefined);
  await run(nodes);
  expect(pathsOf('/check-tcp')[0]?.query.toString()).toBe(`host=example.com%3A443&${query}`);
});

test('a named node that the service does not take has an unknown vote', async () => {
  const { run } = setUp(({ path }) => (path === '/check-tcp' ? { json: startedOn(us1) } : undefined));
  expect(votesOf(await run({ kind: 'named', names: ['us1', 'ch1'] }))).toEqual([
    ['us1', 'up'],
    ['ch1', 'unknown service_answer'],
  ]);
});

test('nothing is started where none of the named nodes is known', async () => {
  const { run, pathsOf } = setUp(() => undefined);
  expect(votesOf(await run({ kind: 'named', names: ['fr7'] }))).toEqual([['fr7', 'unknown service_answer']]);
  expect(pathsOf('/check-tcp')).toEqual([]);
});

test('the list of nodes is fetched again after an hour, and soon after a node turns up that is not in it', async () => {
  let ids = [us1];
  const { run, clock, pathsOf } = setUp(({ path }) => {
    if (path === '/check-tcp') return { json: startedOn(...ids) };
    return path.startsWith('/check-result/') ? { json: Object.fromEntries(ids.map((id) => [id, up])) } : undefined;
  });
  await run();
  await run();
  expect(pathsOf('/nodes/')).toHaveLength(1);
  await clock.advance(3_600_000);
  await run();
  expect(pathsOf('/nodes/')).toHaveLength(2);
  ids = [us1, 'de9.node.example.net'];
  expect((await run()).votes.map(({ node }) => node.name)).toEqual(['us1', 'de9']);
  await clock.advance(60_000);
  await run();
  expect(pathsOf('/nodes/')).toHaveLength(3);
});

const html = { text: '<html>Attention required</html>', headers: { 'content-type': 'text/html' } };

test.each<{ name: string; start: Scripted; code: string; message: RegExp }>([
  {
    name: 'a limit with status 200',
    start: { json: { error: 'limit_exceeded' } },
    code: 'service_limited',
    message: /no more checks/,
  },
  {
    name: 'a limit with status 429',
    start: { text: 'Too Many Requests', status: 429 },
    code: 'service_limited',
    message: /no more/,
  },
  { name: 'an HTML page', start: html, code: 'service_answer', message: /an HTML page instead of JSON/ },
  { name: '403', start: { ...html, status: 403 }, code: 'service_answer', message: /status 403/ },
  {
    name: 'a refusal',
    start: { json: { ok: 0, error: 'forbidden_target', message: 'No.' }, status: 403 },
    code: 'service_answer',
    message: /refused: forbidden_target: No\./,
  },
  { name: '502', start: { text: 'Bad Gateway', status: 502 }, code: 'service_answer', message: /status 502/ },
  { name: 'silence', start: 'hang', code: 'service_unreachable', message: /no answer/ },
  {
    name: 'JSON that is no start',
    start: { json: [1, 2] },
    code: 'service_answer',
    message: /did not confirm the start/,
  },
  { name: 'no nodes', start: { json: startedOn() }, code: 'service_answer', message: /did not confirm the start/ },
])('$name in place of a start is an unknown vote of every node', async ({ start, code, message }) => {
  const { run, pathsOf } = setUp(({ path }) => (path === '/check-tcp' ? start : undefined));
  const result = await run();
  expect(votesOf(result)).toEqual([
    ['ch1', `unknown ${code}`],
    ['us1', `unknown ${code}`],
  ]);
  expect(result.votes[0]?.outcome).toMatchObject({
    failure: { source: 'service', message: expect.stringMatching(message) },
  });
  expect(result.reportUrl).toBeNull();
  expect(pathsOf('/check-tcp')).toHaveLength(1);
});

test('a service that is not there at all is the unknown vote of a stand-in', async () => {
  const { run, client } = setUp(() => 'hang');
  expect(votesOf(await run())).toEqual([['zz0', 'unknown service_unreachable']]);
  expect(client.nodes()).toEqual([]);
});

test('nothing is started while the service wants to be left alone', async () => {
  let limited = true;
  const { run, clock, pathsOf } = setUp(({ path }) =>
    path === '/check-tcp' && limited ? { text: '', status: 429, headers: { 'retry-after': '120' } } : undefined,
  );
  await run();
  limited = false;
  expect(votesOf(await run())).toEqual([
    ['ch1', 'unknown service_limited'],
    ['us1', 'unknown service_limited'],
  ]);
  expect(pathsOf('/check-tcp')).toHaveLength(1);
  await clock.advance(120_000);
  expect(votesOf(await run())).toContainEqual(['us1', 'up']);
});

test('an allowance that is used up makes the next start wait a little', async () => {
  const { run, pathsOf } = setUp(({ path }) =>
    path === '/check-tcp'
      ? { json: startedOn(us1), headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '50' } }
      : undefined,
  );
  expect(votesOf(await run())).toEqual([['us1', 'up']]);
  expect(votesOf(await run())).toEqual([['us1', 'up']]);
  const [first, second] = pathsOf('/check-tcp').map(({ at }) => at);
  expect((second ?? 0) - (first ?? 0)).toBe(10_000);
});

test('nodes that are still at work at the end are unknown, the others keep what they saw', async () => {
  const { run, pathsOf } = setUp(({ path }) =>
    path.startsWith('/check-result/') ? { json: { [us1]: [{ error: 'Connection refused' }], [ch1]: null } } : undefined,
  );
  expect(votesOf(await run())).toEqual([
    ['us1', 'down refused'],
    ['ch1', 'unknown service_answer'],
  ]);
  const polls = pathsOf('/check-result/').map(({ at }) => at);
  const pauses = polls.slice(1).map((at, index) => at - (polls[index] ?? 0));
  expect(Math.max(...pauses)).toBeLessThanOrEqual(6_250);
  expect(pauses.at(-2)).toBeGreaterThan(3_000);
  expect(polls.length).toBeLessThan(20);
});

test.each<{ name: string; poll: Scripted; code: string; fewPolls: boolean }>([
  {
    name: 'an identifier that is gone',
    poll: { json: { ok: 0, error: 'not_found' }, status: 404 },
    code: 'service_answer',
    fewPolls: true,
  },
  { name: 'an HTML page for ever', poll: html, code: 'service_answer', fewPolls: false },
  { name: '500 for ever', poll: { text: '', status: 500 }, code: 'service_answer', fewPolls: false },
  { name: 'a limit for ever', poll: { json: { error: 'limit_exceeded' } }, code: 'service_limited', fewPolls: false },
  { name: 'silence', poll: 'hang', code: 'service_unreachable', fewPolls: false },
  { name: 'a list of results', poll: { json: [] }, code: 'service_answer', fewPolls: false },
])('$name while polling is an unknown vote of each node', async ({ poll, code, fewPolls }) => {
  const { run, pathsOf } = setUp(({ path }) => (path.startsWith('/check-result/') ? poll : undefined));
  expect(votesOf(await run())).toEqual([
    ['us1', `unknown ${code}`],
    ['ch1', `unknown ${code}`],
  ]);
  const polls = pathsOf('/check-result/').length;
  if (fewPolls) expect(polls).toBe(2);
  else expect(polls).toBeLessThan(20);
});

test('trouble that passes while polling costs nothing', async () => {
  const script: Scripted[] = [
    'hang',
    { text: '', status: 502 },
    html,
    { json: {} },
    { json: { [us1]: up, [ch1]: null } },
  ];
  const { run } = setUp(({ path }) => (path.startsWith('/check-result/') ? script.shift() : undefined));
  expect(votesOf(await run())).toEqual([
    ['us1', 'up'],
    ['ch1', 'up'],
  ]);
});

test('one broken row is unknown with its text, and spoils no other', async () => {
  const { run } = setUp(({ path }) =>
    path.startsWith('/check-result/')
      ? { json: { [us1]: [{ tiem: 'soon' }], [ch1]: up, 'xx1.node.example.net': up } }
      : undefined,
  );
  const { votes } = await run();
  expect(votes.map(({ outcome }) => outcome.status)).toEqual(['unknown', 'up']);
  expect(votes[0]?.outcome).toMatchObject({ failure: { source: 'node', message: expect.stringContaining('tiem') } });
});

test('waits at the other side where it can, with one poll', async () => {
  const { run, pathsOf } = setUp(() => undefined);
  await run();
  expect(pathsOf('/check-result/').map(({ query }) => query.get('wait'))).toEqual(['20']);
});

test('a service that does not wait, or refuses to, is asked once only', async () => {
  for (const first of [{ json: { [us1]: null } }, { json: { ok: 0, error: 'bad_request' }, status: 400 }]) {
    let polls = 0;
    const { run, pathsOf } = setUp(({ path }) => {
      if (!path.startsWith('/check-result/')) return undefined;
      polls += 1;
      return polls === 1 ? first : { json: { [us1]: up, [ch1]: up } };
    });
    await run();
    await run();
    expect(pathsOf('/check-result/').map(({ query }) => query.has('wait'))).toEqual([true, false, false]);
  }
});

test('whoever looks on sees the nodes at once and each result as it comes', async () => {
  const script: Scripted[] = [{ json: { [us1]: null } }, { json: { [us1]: up } }];
  const { run } = setUp(({ path }) => (path.startsWith('/check-result/') ? script.shift() : undefined));
  const seen: string[] = [];
  await run({ kind: 'all' }, ({ nodes }) => seen.push(nodes.map(({ outcome }) => outcome?.status ?? '...').join(' ')));
  expect(seen).toEqual(['... ...', 'up ...', 'up up']);
});

test('trouble is logged when it begins and when it ends', async () => {
  let broken = false;
  const { run, lines } = setUp(({ path }) => (path === '/check-tcp' && broken ? html : undefined));
  await run();
  broken = true;
  await run();
  await run();
  broken = false;
  await run();
  expect(lines.map(({ msg }) => msg)).toEqual([
    'the check service rejects checks',
    'the check service accepts checks again',
  ]);
});

test('a run ends with the signal, and with the client', async () => {
  const { client, clock } = setUp(({ path }) => (path === '/check-tcp' ? 'hang' : undefined));
  const controller = new AbortController();
  const aborted = client.run({ spec, nodes: { kind: 'all' } }, controller.signal);
  await clock.advance(100);
  controller.abort(new Error('enough'));
  await expect(aborted).rejects.toThrow('enough');
  const closed = client.run({ spec, nodes: { kind: 'all' } }, new AbortController().signal);
  await clock.advance(100);
  client.close();
  await expect(closed).rejects.toThrow('closed');
  expect(clock.pending).toBe(0);
});
