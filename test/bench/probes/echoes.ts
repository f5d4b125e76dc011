import { execFileSync } from 'node:child_process';
import { CheckSpec } from '#checks/index.ts';
import { systemClock } from '#kernel/clock.ts';
import { systemRandom } from '#kernel/random.ts';
import { startAgent } from '#node/agent.ts';
import { answerQuestions } from '../tools/processes.ts';

// Four echoes to each of many targets, one every half second, as `fping -C 4 -p 500` sends them.

const echoes = 4;
const intervalMs = 500;

/** How many targets, spread over how many milliseconds. */
export interface EchoLoad {
  readonly targets: number;
  readonly spreadMs: number;
}

export interface EchoesSpent {
  readonly cpuSeconds: number;
  readonly lost: number;
}

export function echoTargets(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `127.0.${2 + Math.floor(index / 250)}.${1 + (index % 250)}`);
}

/** The same load by one fping. Its CPU is that of the whole process, as bash's `times` tells it. */
export function fpingEchoes({ targets, spreadMs }: EchoLoad): EchoesSpent {
  const gap = Math.max(spreadMs / targets, 0.1).toFixed(2);
  const options = `-q -C ${echoes} -p ${intervalMs} -i ${gap} -t 3000`;
  const script = `fping ${options} ${echoTargets(targets).join(' ')} 2>&1; times`;
  const lines = execFileSync('bash', ['-c', script], { encoding: 'utf8' }).trim().split('\n');
  const spent = [...(lines.at(-1) ?? '').matchAll(/(\d+)m([\d.]+)s/g)];
  return {
    cpuSeconds: spent.reduce((sum, [, minutes, seconds]) => sum + Number(minutes) * 60 + Number(seconds), 0),
    lost: lines.reduce((sum, line) => sum + (line.match(/ -(?= |$)/g)?.length ?? 0), 0),
  };
}

if (process.argv[1] === import.meta.filename) {
  const agent = await startAgent(
    { localAddress: {}, policy: 'private', allow: [], deny: [], knownAs: [], running: 10_000, queued: 0 },
    systemClock,
    systemRandom,
  );
  const ping = async (host: string) => {
    const spec = CheckSpec.parse({ type: 'ping', host, count: echoes, interval: `${intervalMs}ms` });
    const { facts } = await agent.run({ spec, policy: 'private', deadlineMs: 20_000 }, new AbortController().signal);
    return (facts.loss ?? 1) * echoes;
  };
  answerQuestions(async ({ targets, spreadMs }: EchoLoad): Promise<EchoesSpent> => {
    const cpu = process.cpuUsage();
    const losses = echoTargets(targets).map(async (host, index) => {
      await new Promise((resolve) => setTimeout(resolve, (index * spreadMs) / targets));
      return ping(host);
    });
    const lost = (await Promise.all(losses)).reduce((sum, one) => sum + one, 0);
    const { user, system } = process.cpuUsage(cpu);
    return { cpuSeconds: (user + system) / 1e6, lost };
  });
}
