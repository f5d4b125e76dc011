import { fileURLToPath } from 'node:url';
import type { Outcome } from '#checks/index.ts';
import { systemClock } from '#kernel/clock.ts';
import { createLog } from '#kernel/log.ts';
import { systemRandom } from '#kernel/random.ts';
import { startAgent } from '#node/agent.ts';
import type { AgentOptions } from '#node/ports.ts';
import { createRuns } from '#service/runs.ts';
import { createThreadTransport } from '#transport/thread.ts';
import { nodeInfo } from '../../support/votes.ts';
import { answerQuestions } from '../tools/processes.ts';
import { specOf } from './specs.ts';
import { type Check, type Load, runLoad } from './subject.ts';

// Our probes: through the agent of a node in this very thread, or, with the argument "thread", the way the daemon goes: from
// the service's runs to a node in a worker thread and back.

const options: AgentOptions = {
  localAddress: {},
  policy: 'private',
  allow: [],
  deny: [],
  knownAs: [],
  running: 1_000,
  queued: 10_000,
};
const check = process.argv[2] === 'thread' ? throughThread() : await throughAgent();
answerQuestions(async (load: Load) => runLoad(check, load));

async function throughAgent(): Promise<Check> {
  const agent = await startAgent(options, systemClock, systemRandom);
  return async (type, address, ports) => {
    const command = { spec: specOf(type, address, ports), policy: 'private', deadlineMs: 10_000 } as const;
    // One for each command, as node/thread.ts makes them: a listener costs time in proportion to those that are there.
    return isUp(await agent.run(command, new AbortController().signal));
  };
}

function throughThread(): Check {
  const transport = createThreadTransport({
    nodes: [{ info: nodeInfo('zz1'), options }],
    module: new URL('../../../src/node/thread.ts', import.meta.url),
    clock: systemClock,
    log: createLog({ level: 'warn', pretty: false, fd: 2 }),
  });
  const runs = createRuns(transport, systemClock);
  const { signal } = new AbortController();
  return async (type, address, ports) => {
    const spec = specOf(type, address, ports);
    const [first] = await runs.run({ spec, nodes: { kind: 'all' }, policy: 'private' }, signal);
    return first !== undefined && isUp(first.outcome);
  };
}

let told = 0;

function isUp(outcome: Outcome): boolean {
  if (outcome.status === 'up') return true;
  if ((told += 1) <= 3) console.error(`${fileURLToPath(import.meta.url)}: ${outcome.failure.message}`);
  return false;
}
