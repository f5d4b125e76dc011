import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemCode } from '#kernel/errors.ts';
import { issueAuthority } from '../../support/certificates.ts';
import { startMailServer } from '../days/mail-server.ts';
import { createPrograms, type Programs } from '../days/programs.ts';
import { systems } from '../days/systems/index.ts';
import { recipientsOf, slugOf, type System, type TargetPlan, usualTimes } from '../days/systems/system.ts';
import { gridLatenessOf, type Spread, spreadOf } from '../monitor/lateness.ts';
import type { Arrivals } from '../monitor/servers.ts';
import { createTargets } from '../monitor/targets.ts';
import { familyCpuSeconds, memoryBytes, sharedMemoryBytes, startHelper, writtenBytes } from '../tools/processes.ts';

// Measures one system, as the first process of its own namespaces (network, mounts, processes): when it ends, all that it started is
// gone. Arguments: name of the system, number of targets, seconds before and of the measurement, folder. The result is a file there.

const loopback = '127.0.0.1';
const memorySamples = 5;

/** What a system needed for its targets. */
export interface PeerResult {
  readonly system: string;
  readonly targets: number;
  readonly seconds: number;
  readonly checks: number;
  /** Those that the interval makes. */
  readonly dueChecks: number;
  readonly cpuSeconds: number;
  /** Bytes, of all processes: resident, and with shared pages divided by those who share them. */
  readonly residentBytes: number;
  readonly proportionalBytes: number;
  readonly processes: number;
  readonly writtenBytes: number;
  /** Milliseconds behind a regular grid; null without a check. */
  readonly late: Spread | null;
  /** The same of a timer that does nothing else. */
  readonly timerLate: Spread;
}

async function measure(
  system: System,
  count: number,
  [warmUpSeconds, seconds]: readonly [number, number],
  folder: string,
): Promise<PeerResult> {
  execFileSync('ip', ['link', 'set', 'lo', 'up']);
  await using servers = startHelper<object, Arrivals>(new URL('../monitor/servers.ts', import.meta.url), ['80']);
  await using _mail = await startMailServer(loopback);
  const programs = await createPeer(system, count, folder);
  await servers.ask({});
  programs.start();
  await sleep(warmUpSeconds * 1_000);
  await servers.ask({});
  const before = spentBy(programs);
  await sleep(seconds * 1_000);
  const after = spentBy(programs);
  const { at, timerLate } = await servers.ask({});
  const memory = await sampleMemory(programs);
  await programs.signal('SIGKILL');
  const late = Object.values(at).flatMap((arrivals) => gridLatenessOf(arrivals, usualTimes.every * 1_000));
  return {
    system: system.name,
    targets: count,
    seconds,
    checks: late.length,
    dueChecks: (count * seconds) / usualTimes.every,
    cpuSeconds: after.cpu - before.cpu,
    ...memory,
    writtenBytes: after.disk - before.disk,
    late: late.length === 0 ? null : spreadOf(late),
    timerLate: spreadOf(timerLate),
  };
}

async function createPeer(system: System, count: number, folder: string): Promise<Programs> {
  const targets = createTargets('http', count).map(({ name, address }): TargetPlan => ({
    name,
    host: address,
    isTls: false,
  }));
  const authority = join(folder, 'authority.pem');
  writeFileSync(authority, (await issueAuthority()).cert);
  const own = join(folder, slugOf(system.name));
  mkdirSync(own);
  const setUp = system.setUp({
    folder: own,
    targets,
    mailHost: loopback,
    recipients: recipientsOf(system.name, 1),
    authority,
    gateway: loopback,
    times: usualTimes,
    path: '/',
    needsClock: false,
  });
  // What stands for a mail transfer agent is no part of the system.
  const commands = setUp.commands.filter(({ isApart }) => isApart !== true);
  return createPrograms(own, { ...setUp, commands }, { wrap: (words) => [...words] as [string, ...string[]] });
}

function spentBy(programs: Programs): { readonly cpu: number; readonly disk: number } {
  const ids = programs.ids();
  return { cpu: sumOf(ids, familyCpuSeconds), disk: sumOf(ids, (pid) => writtenBytes(pid).disk) };
}

/** The mean of some seconds: plugins come and go. */
async function sampleMemory(
  programs: Programs,
): Promise<Pick<PeerResult, 'residentBytes' | 'proportionalBytes' | 'processes'>> {
  let [residentBytes, proportionalBytes, processes] = [0, 0, 0];
  for (let sample = 0; sample < memorySamples; sample += 1) {
    const ids = programs.ids();
    residentBytes += sumOf(ids, (pid) => memoryBytes(pid).now) / memorySamples;
    proportionalBytes += sumOf(ids, sharedMemoryBytes) / memorySamples;
    processes += ids.length / memorySamples;
    await sleep(1_000);
  }
  return { residentBytes, proportionalBytes, processes: Math.round(processes) };
}

/** The sum of a figure of processes; those that have just ended count for nothing, their parents have what they used. */
function sumOf(pids: readonly number[], figure: (pid: number) => number): number {
  return pids.reduce((sum, pid) => {
    try {
      const value = figure(pid);
      return Number.isNaN(value) ? sum : sum + value;
    } catch (error) {
      if (systemCode(error) === 'ENOENT' || systemCode(error) === 'ESRCH') return sum;
      throw error;
    }
  }, 0);
}

const [, , name = '', count = '', warmUp = '', seconds = '', folder = ''] = process.argv;
const system = systems.find((one) => one.name === name);
if (system === undefined) throw new Error(`there is no system "${name}"`);
const result = await measure(system, Number(count), [Number(warmUp), Number(seconds)], folder);
writeFileSync(join(folder, 'result.json'), JSON.stringify(result));
process.exit();
