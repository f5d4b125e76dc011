import { expect, test } from 'vitest';
import { renewalTimes } from '#monitor/notify/channel.ts';
import { crowd, threadNamed } from '../support/crowd.ts';
import { startDaemonIn } from '../support/daemon.ts';
import { mailsIn } from '../support/mail-files.ts';
import { eventually } from '../support/program.ts';
import { samplesOf } from '../support/samples.ts';
import { tempFolder } from '../support/store.ts';
import { tcpServer } from '../support/tcp-servers.ts';

const targets = 1_500;
const overloadTimes = { countedMs: 6_000, afterMs: 1_000, overMs: 2_000 };
// What is left to the node is less than it needs.
const programs = 24;

test('an embedded node that has more to check than it can blames no target, reports an outage, and is reported itself until it keeps up', async () => {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(tempFolder());
  const steady = stack.use(await tcpServer((socket) => socket.end()));
  const shop = stack.use(await tcpServer((socket) => socket.end()));
  const names = Array.from({ length: targets }, (_, index) => `t${index}`);
  const yaml = `
data: watchpost.db
http: { listen: "127.0.0.1:0" }
defaults: { every: 2s }
notify: { ops: { email: { to: [ops@example.com] }, group_wait: 0s, group_interval: 0s } }
targets:
  shop: { check: tcp, host: "127.0.0.1:${shop.port}", timeout: 1900ms }
${names.map((name) => `  ${name}: { check: tcp, host: "127.0.0.1:${steady.port}", timeout: 1900ms }`).join('\n')}
rules: { down: { failing: any, rounds: 2, recover: 2 } }
`;
  const daemon = stack.use(await startDaemonIn(folder.path, yaml, { renewal: renewalTimes, overloadTimes }));
  const url = `http://127.0.0.1:${daemon.web.addr().port}`;
  const read = async (path: string) => (await fetch(`${url}${path}`)).text();
  const says = async (path: string, words: string) => (await read(path)).includes(words);
  const incidents = async () => (await daemon.history.incidents({ limit: 50 })).incidents;
  const about = async (target: string) => (await incidents()).filter((one) => one.target === target);
  const targetsUp = async () => (await incidents()).every(({ target }) => !names.includes(target));
  await eventually(30_000, async () => expect(await says('/', `All ${targets + 1} targets are up.`)).toBe(true));
  {
    await using _ = crowd(threadNamed('node zz1'), programs);
    await eventually(60_000, async () => expect(await about('own node overload')).toHaveLength(1));
    expect(await says('/nodes', 'Node zz1 is overloaded')).toBe(true);
    await shop[Symbol.asyncDispose]();
    await eventually(60_000, async () => expect(await about('shop')).toMatchObject([{ rule: 'down' }]));
  }
  const [reported] = await about('own node overload');
  expect(reported?.cause).toMatch(/^zz1 left out \d+ checks in the last minute$/);
  const subjects = (await mailsIn(folder.path)).map(({ subject = '' }) => subject);
  expect(subjects).toContainEqual(
    expect.stringMatching(/^\[OVERLOADED\] nodes: zz1 left out \d+ checks in the last minute$/),
  );
  const lost = samplesOf(await read('/metrics')).get('watchpost_node_lost_results_total{node="zz1",reason="skipped"}');
  expect(lost).toBeGreaterThan(targets);
  await eventually(60_000, async () =>
    expect((await about('own node overload')).filter(({ closing }) => closing !== 'recovered')).toEqual([]),
  );
  await eventually(60_000, async () => expect(await says('/nodes', 'is overloaded')).toBe(false));
  // Nothing but the outage was down.
  expect([await targetsUp(), await about('shop')]).toEqual([true, [expect.anything()]]);
}, 200_000);
