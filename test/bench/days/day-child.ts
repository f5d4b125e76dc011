import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { issue, issueAuthority } from '../../support/certificates.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import type { Day, World } from './day.ts';
import { days } from './days.ts';
import type { Outage } from './judge.ts';
import { createLocalTime } from './local-time.ts';
import { type MailServer, startMailServer } from './mail-server.ts';
import { startNameServer } from './name-server.ts';
import { addressOf, createNetwork, mailHost, nameServer, setAddress, setLink } from './network.ts';
import { historyErrorsOf, participantOf, waitUntilChecking } from './participants.ts';
import { resultsOf, type SystemResult } from './result.ts';
import { systems } from './systems/index.ts';
import type { TargetPlan } from './systems/system.ts';
import { startTarget, type Target } from './target.ts';

// Lives through one day, as the first process of its own namespaces (network, mounts, processes): when it ends, all that it started
// is gone. Arguments: name of the day, seed, folder, names of systems. The result is a file in the folder.

const warmUpSeconds = 30;
/** From the start to the change of local time: warm-up and a second start fit in. */
const changeMs = 130_000;
const limitMs = 2 * 60 * 60_000;

async function live(
  day: Day,
  seed: number,
  folder: string,
  wanted: readonly string[],
): Promise<{ readonly results: readonly SystemResult[]; readonly heldUpMs: number }> {
  await using servers = new AsyncDisposableStack();
  createNetwork();
  const plans = planTargets(day);
  const authority = join(folder, 'authority.pem');
  const targets = await startTargets(day, plans, authority, servers);
  const addresses = new Map(plans.map(({ host }, index) => [host, addressOf(index)]));
  const names = servers.use(await startNameServer(nameServer, addresses));
  writeFileSync(join(folder, 'resolv.conf'), `nameserver ${nameServer}\noptions timeout:2 attempts:2\n`);
  execFileSync('mount', ['--bind', join(folder, 'resolv.conf'), '/etc/resolv.conf']);
  const mail = servers.use(await startMailServer(mailHost));

  const zone = day.localTime && createLocalTime(folder, day.localTime, Date.now() + changeMs);
  const surroundings = { targets: plans, folder, authority, ...(zone !== undefined && { zone }) };
  const started = systems
    .filter(({ name }) => wanted.includes(name) && !(day.without ?? []).includes(name))
    .map((system) => participantOf(system, day, surroundings))
    .filter(({ programs }) => day.isClock !== true || programs.setUp.setClock !== undefined);
  for (const { programs } of started) programs.start();
  const random = seededRandom(seed);
  await sleep((day.warmUp ?? warmUpSeconds + random.next() * 10) * 1_000);
  const participants = await waitUntilChecking(started, [...targets.values()]);
  const begunAt = Date.now();

  const outages: Outage[] = [];
  const open = new Map<string, Omit<Outage, 'to'>>();
  const turn = async (wantedTargets: readonly string[], behaviour: Parameters<Target['turn']>[0]) => {
    for (const name of wantedTargets) await targets.get(name)?.turn(behaviour);
  };
  const record = (wantedTargets: readonly string[], kind: Outage['kind'] = 'required') => {
    for (const target of wantedTargets) open.set(target, { target, from: Date.now(), kind });
  };
  const world: World = {
    targets: plans.map(({ name }) => name),
    random,
    mail,
    names,
    systems: participants.map(({ programs }) => programs),
    wait: async (seconds) => sleep(seconds * 1_000),
    async fail(wantedTargets, behaviour, kind) {
      record(wantedTargets, kind);
      await turn(wantedTargets, behaviour);
    },
    async recover(wantedTargets, behaviour = 'up') {
      await turn(wantedTargets, behaviour);
      for (const target of wantedTargets) {
        const begun = open.get(target);
        if (begun !== undefined) outages.push({ ...begun, to: Date.now() });
        open.delete(target);
      }
    },
    turn,
    record: (wantedTargets) => record(wantedTargets),
    setReachable(wantedTargets, isReachable) {
      for (const [index, { name }] of plans.entries())
        if (wantedTargets.includes(name)) setAddress(isReachable ? 'add' : 'del', addressOf(index));
    },
    setLink,
    async waitForChange(seconds) {
      const waitMs = (zone?.changeAt ?? 0) - seconds * 1_000 - Date.now();
      if (waitMs < 0) throw new Error('the systems took too long to start');
      await sleep(waitMs);
    },
  };
  using lag = watchLag();
  await day.live(world);
  await sleep((day.settle ?? 70) * 1_000);
  const heldUpMs = lag.longestMs();
  const span = [begunAt, Date.now()] as const;
  const history = new Map(participants.map((one) => [one.system.name, historyErrorsOf(one, plans, targets, span)]));
  for (const { programs } of participants) await programs.signal('SIGKILL');
  keepEvidence(folder, outages, mail);
  const results = await resultsOf(
    participants.map(({ system }) => system),
    outages,
    mail.mails,
  );
  return { results: results.map((one) => ({ ...one, history: history.get(one.system) ?? null })), heldUpMs };
}

const lagEveryMs = 200;

/** How long this process was held up at the most: targets and mail server are part of it, and fail meanwhile without being meant to. */
function watchLag() {
  let [longestMs, last] = [0, performance.now()];
  const timer = setInterval(() => {
    const now = performance.now();
    longestMs = Math.max(longestMs, now - last - lagEveryMs);
    last = now;
  }, lagEveryMs);
  return { longestMs: () => Math.round(longestMs), [Symbol.dispose]: () => clearInterval(timer) };
}

function planTargets(day: Day): readonly TargetPlan[] {
  return Array.from({ length: day.targets }, (_, index) => {
    const name = `web-${String(index + 1).padStart(2, '0')}`;
    const host = day.areNamed === true ? `${name}.days.test` : addressOf(index);
    return { name, host, isTls: day.hasTls === true && index === 0 };
  });
}

async function startTargets(
  day: Day,
  plans: readonly TargetPlan[],
  authorityFile: string,
  servers: AsyncDisposableStack,
): Promise<ReadonlyMap<string, Target>> {
  const authority = await issueAuthority();
  writeFileSync(authorityFile, authority.cert);
  const targets = new Map<string, Target>();
  for (const [index, { name, isTls }] of plans.entries()) {
    const address = addressOf(index);
    setAddress('add', address);
    const certificate = async (days: number) => issue({ ips: [address], days: [-1, days], ca: authority });
    const certificates = isTls ? { good: await certificate(90), expiring: await certificate(2) } : undefined;
    const target = servers.use(await startTarget({ address, ...(certificates !== undefined && { certificates }) }));
    await target.turn(day.usual ?? 'up');
    targets.set(name, target);
  }
  return targets;
}

function keepEvidence(folder: string, outages: readonly Outage[], { mails }: MailServer): void {
  writeFileSync(join(folder, 'truth.json'), JSON.stringify(outages, null, 1));
  writeFileSync(join(folder, 'mails.json'), JSON.stringify(mails, null, 1));
}

const [, , name = '', seed = '1', folder = '', ...wanted] = process.argv;
const day = days.find((one) => one.name === name);
if (day === undefined) throw new Error(`there is no day "${name}"`);
setTimeout(() => {
  throw new Error('the day did not end');
}, limitMs).unref();
const lived = await live(day, Number(seed), folder, wanted);
writeFileSync(join(folder, 'result.json'), JSON.stringify({ day: name, seed: Number(seed), ...lived }, null, 1));
process.exit();
