import { accessSync, constants, statSync } from 'node:fs';
import { DeadlineError, orAbort } from '#kernel/clock.ts';
import { createPool, type Pool } from '#kernel/concurrency.ts';
import { messageOf, WatchpostError } from '#kernel/errors.ts';
import { singleLine } from '#kernel/text.ts';
import { formatDuration } from '#kernel/units.ts';
import type { ProbeContext, ProbeEnvironment, Prober } from '../check.ts';
import { failed, type Failure, failure, type Outcome, toSeconds } from '../outcome.ts';
import { reach } from '../reach.ts';
import { argumentsOf, type PluginCommands } from './commands.ts';
import type { Detail } from './detail.ts';
import { states } from './states.ts';
import { parseOutput } from './output.ts';
import { type PluginRun, runProgram } from './run.ts';
import type { Spec } from './spec.ts';

const mostAtOnce = 4;
const mostWaiting = 1_000;

/** Starts the type on a node, with the programs that it may run. */
export async function start(environment: ProbeEnvironment): Promise<Prober<Spec, Detail>> {
  const { plugins = {} } = environment;
  const names = Object.keys(plugins).toSorted();
  if (names.length === 0) {
    const reason = 'this node has no plugins: name the programs that it may run under plugins';
    return {
      capability: { able: false, reason },
      probe: async () => failed(failure('node', 'unsupported', reason)),
      close: async () => {},
    };
  }
  const ending = new AbortController();
  const pool = createPool({ running: mostAtOnce, queued: mostWaiting });
  return {
    capability: { able: true, has: names.filter((name) => obstacleOf(plugins[name]?.[0] ?? '') === null) },
    async probe(spec, { gate, signal }) {
      const context = { gate, signal: AbortSignal.any([signal, ending.signal]) };
      return probe(spec, context, environment, { plugins, pool });
    },
    async close() {
      ending.abort(new Error('the node ends'));
    },
  };
}

interface PluginRunner {
  readonly plugins: PluginCommands;
  readonly pool: Pool;
}

async function probe(
  spec: Spec,
  context: ProbeContext,
  environment: ProbeEnvironment,
  { plugins, pool }: PluginRunner,
): Promise<Outcome<Detail>> {
  const { clock } = environment;
  const { host, plugin, port, values, timeout, family } = spec;
  const [program, ...template] = (Object.hasOwn(plugins, plugin) ? plugins[plugin] : undefined) ?? [];
  if (program === undefined) return nodeFailure('unsupported', `this node has no plugin "${plugin}"`);
  return reach<Detail>({ name: host, family, limitMs: timeout, covers: 'check' }, context, environment, {
    async probe({ pinned: { address }, phases, signal }) {
      const given = { ...values, host, address, port: port === undefined ? null : String(port) };
      const filled = argumentsOf(template, given);
      if (typeof filled === 'string') return nodeFailure('unsupported', `plugin ${plugin}: ${filled}`);
      const obstacle = obstacleOf(program);
      if (obstacle !== null) return nodeFailure('unsupported', `plugin ${plugin}: ${obstacle}`);
      let start: number | null = null;
      const turn = Promise.withResolvers<void>();
      const running = pool.run(async () => {
        signal.throwIfAborted();
        start = clock.elapsed();
        turn.resolve();
        const seconds = Math.ceil(timeout / 1_000) + 1;
        return runProgram({ program, arguments: filled, seconds, clock, signal });
      });
      try {
        // Who waits for a turn is not kept beyond the time; who has one ends by itself, once everything is killed.
        await orAbort(Promise.race([turn.promise, running]), signal);
        const run = await running;
        const query = toSeconds(clock.elapsed() - (start ?? clock.elapsed()));
        return outcomeOf(plugin, run, { seconds: query, address, phases: { ...phases, query } });
      } catch (error) {
        await abandon(running, start !== null);
        if (error instanceof WatchpostError && error.code === 'node_busy') return nodeFailure('busy', error.message);
        if (!(signal.reason instanceof DeadlineError)) throw error;
        const within = formatDuration(timeout);
        const reason =
          start === null
            ? failure('node', 'busy', `${mostAtOnce} other plugins were still running after ${within}`)
            : failure('third_party', 'timeout', `plugin ${plugin} did not end within ${within} and was killed`);
        return failed(reason, { address, phases });
      }
    },
  });
}

// It rejects as the check did.
async function abandon(running: Promise<unknown>, hasTurn: boolean): Promise<void> {
  const settled = Promise.allSettled([running]);
  if (hasTurn) await settled;
}

const nodeFailure = (code: Failure['code'], message: string): Outcome<Detail> => failed(failure('node', code, message));

type RunTimes = Pick<Outcome, 'seconds' | 'address' | 'phases'>;

function outcomeOf(plugin: string, run: PluginRun, found: RunTimes): Outcome<Detail> {
  const useless = (code: Failure['code'], message: string) =>
    failed<Detail>(failure('third_party', code, `plugin ${plugin} ${message}`), found);
  if (run.kind === 'not_started') return nodeFailure('local', `plugin ${plugin} was not started: ${run.reason}`);
  if (run.kind === 'flood') return useless('too_large', 'printed more than 64 KiB and was killed');
  if (run.kind === 'killed') return useless('exit', `was ended by ${run.signal}`);
  const { code } = run;
  const state = states[code];
  const said = parseOutput(run.output);
  const words = said.text === '' ? singleLine(new TextDecoder().decode(run.errors), 120) : said.text;
  if (state === undefined) return useless('exit', `ended with exit code ${code}${words === '' ? '' : `: ${words}`}`);
  const known = { ...found, facts: { plugin_state: code }, detail: { state, ...said } };
  const message = words === '' ? `plugin ${plugin} is ${state} and printed nothing` : words;
  if (state === 'critical') return failed(failure('target', 'status', message), known);
  if (state === 'unknown') return failed(failure('third_party', 'status', message), known);
  return { status: 'up', ...known };
}

// A program that was removed, or lost its permission, is named as such.
function obstacleOf(program: string): string | null {
  try {
    if (!statSync(program).isFile()) return `${program} is no file`;
    accessSync(program, constants.X_OK);
    return null;
  } catch (error) {
    return `${program} cannot be run: ${messageOf(error)}`;
  }
}
