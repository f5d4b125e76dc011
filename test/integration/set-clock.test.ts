import { expect, test } from 'vitest';
import { startSwitched, type Switched } from '../crash/switched.ts';
import { createMachineClock, type MachineClock } from '../support/machine-clock.ts';
import { createProgram, eventually, type Program, query, type Running } from '../support/program.ts';
import { historyOf } from '../support/fleet-history.ts';
import { startSmtp } from '../support/smtp.ts';
import { tempFolder } from '../support/store.ts';

const hour = 3_600_000;
// The whole matrix is in test/contract/store-clock.test.ts.
const jumps = [
  ['+5 h', 'while running', 5 * hour],
  ['+100 d', 'over a restart', 2_400 * hour],
  ['+10 y', 'while running', 87_600 * hour],
  ['-1 h', 'over a restart', -hour],
] as const;

interface Machine extends AsyncDisposable {
  readonly program: Program;
  readonly clock: MachineClock;
}

async function createMachine(): Promise<Machine> {
  const folder = tempFolder();
  const clock = createMachineClock(folder.path);
  const program = await createProgram({ environment: clock.environment });
  return {
    program,
    clock,
    async [Symbol.asyncDispose]() {
      await program[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

function configOf(program: Program, smtpPort: number, shop: Switched): string {
  return `data: ${program.database}
http: { listen: "127.0.0.1:0" }
smtp: { url: "smtp://127.0.0.1:${smtpPort}", from: Watchpost <alerts@example.com> }
defaults: { every: 1s }
rules: { down: { rounds: 1, recover: 1 } }
notify: { ops: { email: { to: [ops@example.com] }, group_wait: 500ms, group_interval: 1s } }
targets:
  shop: { check: tcp, host: "127.0.0.1:${shop.port}", timeout: 500ms, objective: 99% over 7d }
`;
}

const figure = async ({ url }: Running, name: string) => {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(text)?.[1]);
};

// Each has a machine of its own, and waits for the most part.
test.concurrent.each(jumps)(
  'the clock of the machine is set by %s for some seconds, %s',
  { timeout: 200_000 },
  async (_, when, byMs) => {
    await using machine = await createMachine();
    await using sink = await startSmtp();
    await using shop = await startSwitched();
    const { program } = machine;
    const count = (where: string) => Number(query(program.database, `SELECT count(*) AS n FROM ${where}`)[0]?.['n']);
    // Also in sealed hours: an hour may end meanwhile.
    const stored = (from: number, to: number) =>
      historyOf({ program }).results.filter(({ due_at: due }) => due >= from && due <= to).length;
    const grows = async (from: number, to: number) => {
      const before = stored(from, to);
      await eventually(60_000, () => expect(stored(from, to)).toBeGreaterThan(before + 2));
    };
    let running = await program.start(configOf(program, sink.port, shop));
    const setBy = async (ms: number, direction: 'forward' | 'back') => {
      if (when === 'over a restart') await running.end('SIGTERM');
      machine.clock.set(ms);
      if (when === 'over a restart') running = await program.start(configOf(program, sink.port, shop));
      await running.logged(new RegExp(`^clock was set ${direction}`));
      await eventually(20_000, () =>
        expect(sink.received.some(({ raw }) => raw.includes(`set ${direction} by`))).toBe(true),
      );
    };
    await grows(0, Infinity);
    const atFirst = stored(0, Infinity);
    const until = Date.now();
    await setBy(byMs, byMs > 0 ? 'forward' : 'back');
    await grows(0, Infinity);
    // What happens under a clock that was seen to be set ahead belongs to the time at which it happens.
    const isSeen = when === 'while running' && byMs > 0;
    if (isSeen) {
      await shop.turn(false);
      await eventually(20_000, () => expect(count('verdict_periods WHERE status = 1')).toBe(1));
      await shop.turn(true);
      await eventually(20_000, () => expect(count('verdict_periods WHERE status = 0')).toBeGreaterThan(1));
    }
    await setBy(0, byMs > 0 ? 'back' : 'forward');
    const back = Date.now();
    if (isSeen) {
      expect(count(`verdict_periods WHERE status = 1 AND from_at BETWEEN ${until} AND ${back}`)).toBe(1);
      expect(stored(until, back)).toBeGreaterThan(2);
      expect(stored(back + 60_000, Infinity)).toBe(0);
    }

    await grows(back, back + 600_000);
    expect(stored(0, until - 1)).toBeGreaterThanOrEqual(atFirst);
    await shop.turn(false);
    const downNow = `verdict_periods WHERE status = 1 AND from_at BETWEEN ${back} AND ${back + 600_000}`;
    await eventually(20_000, () => expect(count(downNow)).toBe(1));
    await eventually(20_000, async () =>
      expect(await figure(running, 'watchpost_objective_budget_left_ratio')).toBeLessThan(1),
    );
    await shop.turn(true);
    await eventually(20_000, () =>
      expect(
        sink.received.some(({ mail }) => mail.subject?.includes('RESOLVED') === true && mail.subject.includes('shop')),
      ).toBe(true),
    );
    expect(count(`verdict_periods WHERE from_at > ${Date.now() + 1_000}`)).toBe(0);
    expect(count(`marks WHERE name LIKE '%_until' AND value > ${Date.now()}`)).toBe(0);
    expect(await figure(running, 'watchpost_clock_last_jump_seconds')).toBeCloseTo(-byMs / 1_000, -1);
  },
);

test.concurrent('a target that cannot be judged is not notified early by a clock that is set forward', async () => {
  await using machine = await createMachine();
  await using sink = await startSmtp();
  await using shop = await startSwitched();
  const { program } = machine;
  // The node has no plugin folder: what it cannot check is unknown.
  const blind = `  blind: { check: plugin, host: "127.0.0.1", plugin: check_http }\n`;
  const running = await program.start(`${configOf(program, sink.port, shop)}${blind}`);
  const unknown = () => Number(query(program.database, `SELECT count(*) AS n FROM results WHERE status = 2`)[0]?.['n']);
  await eventually(60_000, () => expect(unknown()).toBeGreaterThan(2));
  machine.clock.set(5 * hour);
  await running.logged(/^clock was set forward/);
  const before = unknown();
  await eventually(60_000, () => expect(unknown()).toBeGreaterThan(before + 3));
  expect(query(program.database, `SELECT id FROM incidents WHERE rule = 'unknown'`)).toEqual([]);
});

test.concurrent('a machine that starts with its clock ahead has it set right while the program runs', async () => {
  await using machine = await createMachine();
  await using sink = await startSmtp();
  await using shop = await startSwitched();
  const { program } = machine;
  machine.clock.set(5 * hour);
  const nodes = 'nodes: { de1: {}, us1: {} }\n';
  const running = await program.start(`${configOf(program, sink.port, shop)}${nodes}`);
  const stored = (from: number) => historyOf({ program }).results.filter(({ due_at: due }) => due >= from);
  await eventually(60_000, () => expect(stored(0).length).toBeGreaterThan(4));
  machine.clock.set(0);
  await running.logged(/^clock was set back/);
  const back = Date.now();
  const ofNow = () => stored(back).filter(({ due_at: due }) => due < back + hour);
  await eventually(60_000, () => expect(ofNow().length).toBeGreaterThan(8));
  // A node sees by its next check that the clock was set, which is not its fault.
  const isExcused = (due: number, failure: string | null) =>
    due < back + 2_000 && /service_limited/.test(failure ?? '');
  const notUp = ofNow().filter(({ due_at: due, status, failure }) => status !== 0 && !isExcused(due, failure));
  expect(notUp.map(({ due_at: due, node, failure }) => ({ afterMs: due - back, node, failure }))).toEqual([]);
  await shop.turn(false);
  const down = `SELECT from_at FROM verdict_periods WHERE status = 1 AND from_at BETWEEN ${back} AND ${back + hour}`;
  await eventually(20_000, () => expect(query(program.database, down)).toHaveLength(1));
  await eventually(20_000, () =>
    expect(sink.received.some(({ mail }) => /DOWN.*shop/.test(mail.subject ?? ''))).toBe(true),
  );
});
