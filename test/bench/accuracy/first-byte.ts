import { execFileSync } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { http } from '#checks/http/index.ts';
import { start as startHttp } from '#checks/http/probe.ts';
import type { Outcome } from '#checks/index.ts';
import { systemClock } from '#kernel/clock.ts';
import { observedTimers } from '#kernel/lateness.ts';
import { systemRandom } from '#kernel/random.ts';
import { startAgent } from '#node/agent.ts';
import { addressGate } from '../../support/address-gate.ts';
import { startBlackbox } from '../probes/blackbox.ts';
import { missing, startHelper } from '../tools/processes.ts';
import type { DelayedServer } from './delayed-server.ts';
import { type Figures, figuresOf, formatTable, type Row } from './figures.ts';

const samples = 200;
const everyMs = 75;
const heldUpMs = 30;
const program = 'prometheus-blackbox-exporter';

/** Takes the time to the first byte, in milliseconds. */
type TakeFirstByte = () => Promise<number>;

/** Prints how far off first bytes of http checks are from a delay that is known, idle and with the checking thread itself held up. */
export async function measureFirstByte(delayMs: number): Promise<void> {
  await using server = startHelper<object, DelayedServer>(new URL('delayed-server.ts', import.meta.url), [
    String(delayMs),
  ]);
  const { port } = await server.ask({});
  // In front of everything else, so that it is not late itself.
  if (missing('chrt') === null) execFileSync('chrt', ['--fifo', '--pid', '50', String(server.pid)]);
  const url = `http://127.0.0.1:${port}/`;
  const agent = await startAgent(
    { localAddress: {}, policy: 'private', allow: [], deny: [], knownAs: [], running: 10, queued: 10, types: ['http'] },
    systemClock,
    systemRandom,
  );
  const methods = new Map<string, TakeFirstByte | string>([
    ['watchpost http', byAgent(agent, url)],
    ['the same by its own clock', await byClock(url)],
  ]);
  const absent = missing(program);
  await using blackbox = absent === null ? await startBlackbox() : null;
  methods.set(
    'blackbox_exporter http (processing)',
    blackbox === null ? `no ${program} here` : byBlackbox(blackbox.port, url),
  );
  const cells = new Map<string, (Figures | string)[]>([...methods.keys()].map((name) => [name, []]));
  for (const isHeldUp of [false, true]) {
    const holding = isHeldUp ? setInterval(holdUp, everyMs) : null;
    const taken = await takeByTurns(methods);
    for (const [name, list] of taken) cells.get(name)?.push(typeof list === 'string' ? list : figuresOf(list, delayMs));
    if (holding !== null) clearInterval(holding);
  }
  await agent.close();
  console.log(
    `\nError in ms of the first byte of http, of a server on loopback that answers after ${delayMs} ms; ${samples} samples each.\n`,
  );
  const rows = [...cells].map(([name, figures]): Row => [name, ...figures]);
  console.log(formatTable(['idle', `thread held up ${heldUpMs} of ${everyMs} ms`], rows));
}

function holdUp(): void {
  const end = performance.now() + heldUpMs;
  while (performance.now() < end);
}

async function takeByTurns(
  methods: ReadonlyMap<string, TakeFirstByte | string>,
): Promise<ReadonlyMap<string, number[] | string>> {
  const taken = new Map([...methods].map(([name, take]) => [name, typeof take === 'string' ? take : ([] as number[])]));
  for (let count = 0; count < samples; count += 1) {
    for (const [name, take] of methods) {
      const list = taken.get(name);
      if (typeof take !== 'string' && Array.isArray(list)) list.push(await take());
      await pause(3);
    }
  }
  return taken;
}

const specOf = (host: string) => http.Spec.parse({ type: 'http', host });

function byAgent(agent: Awaited<ReturnType<typeof startAgent>>, url: string): TakeFirstByte {
  const spec = specOf(url);
  return async () =>
    firstByteOf(await agent.run({ spec, policy: 'private', deadlineMs: 10_000 }, new AbortController().signal));
}

/** A clock that tells neither that the thread was held up nor that it was busy. */
async function byClock(url: string): Promise<TakeFirstByte> {
  const clock = observedTimers(systemClock, () => {});
  const prober = await startHttp({ clock, random: systemRandom, localAddress: {} });
  const context = { gate: addressGate, signal: new AbortController().signal };
  return async () => firstByteOf(await prober.probe(specOf(url), context));
}

function byBlackbox(port: number, url: string): TakeFirstByte {
  const probe = `http://127.0.0.1:${port}/probe?module=http&target=${encodeURIComponent(url)}`;
  return async () => {
    const text = await (await fetch(probe)).text();
    const seconds = Number(/^probe_http_duration_seconds\{phase="processing"\} (\S+)$/m.exec(text)?.[1]);
    if (!(seconds > 0)) throw new Error(`blackbox_exporter says: ${text}`);
    return seconds * 1e3;
  };
}

function firstByteOf({ status, phases: { first_byte: seconds } }: Pick<Outcome, 'status' | 'phases'>): number {
  if (status !== 'up' || seconds === undefined) throw new Error(`the check is ${status}`);
  return seconds * 1e3;
}
