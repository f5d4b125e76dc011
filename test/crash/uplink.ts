import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { mailsIn } from '../support/mail-files.ts';
import { createNetworkNamespace, namespaceObstacle } from '../support/network-namespace.ts';
import { eventually } from '../support/program.ts';

const program = new URL('../../src/watchpost.js', import.meta.url).pathname;
const names = Array.from({ length: 30 }, (_, index) => `t${index}`);
const addressOf = (name: string) => `10.20.0.${Number(name.slice(1)) + 1}`;
const listen = `require('node:net').createServer((one) => one.on('error', () => {})).listen(80, '0.0.0.0')`;
const absences = 2;
const awayMs = 25_000;

export interface UplinkResult {
  readonly counts: Readonly<Record<string, number>>;
  readonly faults: readonly string[];
}

export { namespaceObstacle as uplinkObstacle };

/**
 * Takes the uplink of the real program away and gives it back route by route, in network namespaces. All targets are healthy but one,
 * which stays down for a while longer: only that one may be told.
 */
export async function playUplink(): Promise<UplinkResult> {
  await using home = createNetworkNamespace();
  await using world = createNetworkNamespace();
  const folder = mkdtempSync(join(tmpdir(), 'watchpost-uplink-'));
  using _ = { [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
  home.run(['ip', 'link', 'set', 'lo', 'up']);
  home.run(['ip', 'link', 'add', 'near', 'type', 'veth', 'peer', 'name', 'far', 'netns', world.name]);
  home.run(['ip', 'address', 'add', '10.9.0.1/24', 'dev', 'near']);
  home.run(['ip', 'link', 'set', 'near', 'up']);
  world.run(['ip', 'link', 'set', 'lo', 'up']);
  world.run(['ip', 'address', 'add', '10.9.0.2/24', 'dev', 'far']);
  world.run(['ip', 'link', 'set', 'far', 'up']);
  home.run(['ip', 'route', 'add', 'default', 'via', '10.9.0.2']);
  const reach = (what: 'add' | 'del', name: string) =>
    void world.run(['ip', 'address', what, `${addressOf(name)}/32`, 'dev', 'lo']);
  for (const name of names) reach('add', name);
  world.start([process.execPath, '--eval', listen]);

  const config = join(folder, 'watchpost.yaml');
  writeFileSync(config, configOf(folder));
  const child = home.start([process.execPath, program, 'run', '--config', config, '--log-level', 'fatal']);
  await sleep(15_000);
  const [sick, ...healthy] = names;
  if (sick === undefined) throw new Error('there is no target');
  for (let times = 0; times < absences; times += 1) {
    for (const name of names) reach('del', name);
    await sleep(awayMs);
    for (const [index, name] of healthy.entries()) {
      reach('add', name);
      if (index % 5 === 4) await sleep(2_000);
    }
    await eventually(90_000, async () => {
      if (countOf(await subjectsIn(folder), `[DOWN] ${sick}`) <= times) throw new Error('not stated');
    });
    reach('add', sick);
    await sleep(15_000);
  }
  if (child.exitCode !== null) throw new Error(`the program ended by itself with ${child.exitCode}`);
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  await exit;
  return judged(await subjectsIn(folder), sick);
}

function judged(subjects: readonly string[], sick: string): UplinkResult {
  const beginnings = subjects.filter((subject) => subject.startsWith('[DOWN]'));
  const wrong = beginnings.filter((subject) => !subject.startsWith(`[DOWN] ${sick}:`));
  const told = countOf(subjects, `[DOWN] ${sick}`);
  const over = countOf(subjects, `[RESOLVED] ${sick}`);
  const offline = countOf(subjects, '[OFFLINE] network connectivity');
  const faults = wrong.map((subject) => `a healthy target was told: ${subject}`);
  if (told !== absences) faults.push(`the target that was down was told ${told} times, not ${absences}`);
  if (over !== absences) faults.push(`its end was told ${over} times, not ${absences}`);
  if (offline !== absences) faults.push(`our own connectivity was told lost ${offline} times, not ${absences}`);
  const lost = Math.max(0, absences - told) + Math.max(0, absences - over);
  return {
    counts: { targets: names.length, absences, outages: absences, mails: subjects.length, false: wrong.length, lost },
    faults,
  };
}

const countOf = (subjects: readonly string[], start: string) =>
  subjects.filter((subject) => subject.startsWith(start)).length;

async function subjectsIn(folder: string): Promise<readonly string[]> {
  return (await mailsIn(folder)).map(({ subject = '' }) => subject);
}

function configOf(folder: string): string {
  const targets = names.map((name) => `  ${name}: { check: tcp, host: "${addressOf(name)}:80", timeout: 1s }`);
  return `data: ${folder}/watchpost.db
http: { listen: "127.0.0.1:0" }
defaults: { every: 2s }
notify:
  ops: { email: { to: [ops@example.com] }, group_wait: 0s, grouped: false, storm: { messages: 10000, per: 1m } }
targets:
${targets.join('\n')}
`;
}
