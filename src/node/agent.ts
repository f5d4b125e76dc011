import { readFile } from 'node:fs/promises';
import type { CheckTypeName, Outcome, Policy } from '#checks/index.ts';
import { createGates, createResolver, failed, failure, nodeTypeOf, ownAddresses } from '#checks/node-types.ts';
import type { Clock } from '#kernel/clock.ts';
import { createPool } from '#kernel/concurrency.ts';
import { createDeadlines } from '#kernel/deadlines.ts';
import { messageOf, WatchpostError } from '#kernel/errors.ts';
import type { Random } from '#kernel/random.ts';
import type { RunListener } from '#protocol/run-listener.ts';
import { lateAsUnknown } from './excuse.ts';
import { watchLag } from './lag.ts';
import { type Agent, type AgentOptions, type NodeCheckCommand, shareOfApi } from './ports.ts';
import { createProbers } from './probers.ts';

/** Starts a node: opens what its check types need, tries out what it can do, and waits for commands. `warn` takes what goes wrong with them. */
export async function startAgent(
  options: AgentOptions,
  machineClock: Clock,
  random: Random,
  warn?: (problem: string) => void,
): Promise<Agent> {
  const lag = watchLag(machineClock);
  const { clock } = lag;
  const { localAddress, asnFile, dockerSocket, systemdSocket, plugins } = options;
  const probers = createProbers(
    { clock, random, localAddress, asnFile, dockerSocket, systemdSocket, plugins },
    { warn },
  );
  const capabilities = await probers.capabilities();
  const prepare = async (types: readonly CheckTypeName[]) =>
    void (await Promise.allSettled(types.map(async (type) => probers.open(type))));
  await prepare(options.types ?? []);
  const gateFor = createGates({
    resolver: createResolver({ clock, readFile: (path) => readFile(path, 'utf8') }),
    clock,
    allow: options.allow,
    deny: options.deny,
    ownAddresses: ownAddresses(clock, options.knownAs),
  });
  const deadlines = createDeadlines(clock);
  const pool = createPool({ running: options.running, queued: options.queued });
  // The monitor's checks never wait for those of strangers.
  const mostOfApi = Math.max(1, Math.floor(options.running * shareOfApi));
  const poolOfApi = createPool({ running: mostOfApi, queued: options.queued });
  const poolOfInternal = createPool({ running: mostInternal, queued: options.queued });
  const poolOfMany = createPool({ running: mostSendingMany, queued: options.queued });

  const probe = async (command: NodeCheckCommand, signal: AbortSignal, listener: RunListener): Promise<Outcome> => {
    const { type } = command.spec;
    let prober = probers.opened(type) ?? null;
    try {
      prober ??= await probers.open(type);
    } catch (error) {
      return failed(failure('node', 'internal', `cannot load ${type}: ${messageOf(error)}`));
    }
    signal.throwIfAborted();
    listener.onStarted?.(clock.now());
    if (prober === null) return failed(failure('node', 'unsupported', `this node does not know ${type}`));
    if (!prober.capability.able) return failed(failure('node', 'unsupported', prober.capability.reason));
    using limit = deadlines.begin(command.deadlineMs + graceMs, signal);
    using observation = lag.observe(closenessFor[prober.timedByKernel ?? 'none']);
    const gate = gateFor(stricter(command.policy, options.policy), command.policy);
    try {
      const onInterim = command.wantsInterim === true ? listener.onInterim : undefined;
      const { onResponse } = listener;
      const context = { gate, signal: limit.signal, isPatient: command.isPatient, onInterim, onResponse };
      const outcome = observation.withLag(await prober.probe(command.spec, context));
      return lateAsUnknown(outcome, command.deadlineMs);
    } catch (error) {
      signal.throwIfAborted();
      if (limit.expired)
        return failed(failure('node', 'no_answer', `the probe did not end within ${command.deadlineMs} ms`));
      return failed(failure('node', 'internal', messageOf(error)));
    }
  };

  return {
    capabilities,
    health: () => ({ running: pool.running, queued: pool.queued + poolOfApi.queued, lagSeconds: lag.worst() }),
    get isTiming() {
      return lag.isTiming;
    },
    prepare,
    async run(command, signal, listener = {}) {
      signal.throwIfAborted();
      const work = async () => probe(command, signal, listener);
      try {
        const type = nodeTypeOf(command.spec.type);
        if (type?.isInternal === true) return await poolOfInternal.run(work);
        if (command.origin !== 'api') return await pool.run(work);
        const next = async () => {
          signal.throwIfAborted();
          return pool.run(work);
        };
        if (type?.sendsMany !== true) return await poolOfApi.run(next);
        return await poolOfMany.run(async () => poolOfApi.run(next));
      } catch (error) {
        if (error instanceof WatchpostError && error.code === 'node_busy')
          return failed(failure('node', 'busy', error.message));
        throw error;
      }
    },
    async close() {
      lag[Symbol.dispose]();
      await probers.close();
    },
  };
}

// Checks that no schedule waits for take no place of those that are due, and little of the CPU at a time.
const mostInternal = 2;

// Of the checks of the API that send many packets each.
const mostSendingMany = 4;

const closenessFor = { all: 'in passing', arrivals: 'loosely', none: 'closely' } as const;

// A probe ends by its own deadline and says why; only one that does not is ended from outside.
const graceMs = 2_000;

function stricter(asked: Policy, own: Policy): Policy {
  return asked === 'public' || own === 'public' ? 'public' : 'private';
}
