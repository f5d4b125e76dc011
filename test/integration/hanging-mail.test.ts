import { expect, test } from 'vitest';
import { createSmtpChannel } from '#channels/smtp.ts';
import { CheckSpec } from '#checks/index.ts';
import { systemClock } from '#kernel/clock.ts';
import { systemRandom } from '#kernel/random.ts';
import { startMonitor } from '#monitor/monitor.ts';
import { createOutbox } from '#monitor/notify/outbox.ts';
import { watchByRuns } from '#monitor/watch/by-runs.ts';
import type { CheckServiceClient } from '#monitor/watch/runner.ts';
import { smtpServer, template } from '../support/mails.ts';
import { memoryLog } from '../support/memory-log.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { alone } from '../support/policies.ts';
import { eventually } from '../support/program.ts';
import { rule, target } from '../support/scenario.ts';
import { type ScriptedSmtp, type SmtpPhase, startScriptedSmtp } from '../support/scripted-smtp.ts';
import { down, nodeInfo, up } from '../support/votes.ts';

const targets = 200;
const nodes = ['de1', 'us1', 'jp1'].map((name) => nodeInfo(name));
const phases: readonly (SmtpPhase | null)[] = [null, 'greeting', 'ehlo', 'mail', 'rcpt', 'data', 'dot'];

/** How late checks start, in milliseconds, while everything goes down and comes back and mails go to the server. */
async function latenessWith(server: ScriptedSmtp): Promise<readonly number[]> {
  const { log } = memoryLog();
  const store = new MemoryStore();
  const smtp = smtpServer({ url: `smtp://127.0.0.1:${server.port}` });
  const channel = createSmtpChannel({ server: smtp, template, hostname: 'localhost', clock: systemClock });
  const outbox = createOutbox({
    store,
    channels: [channel],
    clock: systemClock,
    random: systemRandom,
    log,
    policyOf: () => alone,
    linkTo: () => null,
  });
  const lateness: number[] = [];
  const began = systemClock.now();
  const asked: CheckServiceClient = {
    nodes: () => nodes,
    // Every target is down for a second, one after the other, so that mails are on their way all the time; one node still sees it.
    async run({ spec }) {
      const number = Number(/\d+/.exec(spec.host)?.[0]);
      const isDown = Math.floor((systemClock.now() - began) / 1_000) % 4 === number % 4;
      const votes = nodes.map((node, index) => ({ node, outcome: isDown && index > 0 ? down() : up() }));
      return { votes, reportUrl: null };
    },
  };
  const events = {
    roundAwaited() {},
    roundSkipped() {},
    roundDone: (_: unknown, round: { dueAt: number; startedAt: number }) =>
      void lateness.push(round.startedAt - round.dueAt),
    recorded() {},
    unwatched() {},
  };
  const watched = Array.from({ length: targets }, (_, index) =>
    target(`t${index}`, {
      spec: CheckSpec.parse({ type: 'tcp', host: `t${index}.example.com:443` }),
      schedule: { kind: 'every', everyMs: 1_000 },
      rules: [rule('down', { rounds: 1, recover: 1, confirm: false })],
    }),
  );
  const monitor = startMonitor(
    { targets: watched, maintenance: [] },
    {
      runner: watchByRuns(asked, systemClock, log),
      store,
      clock: systemClock,
      log,
      events,
      wakeOutbox: () => outbox.wake(),
      onUnstored: () => {},
    },
  );
  outbox.start();
  // Whoever waited for the server would not come that far: its answer never comes.
  await eventually(60_000, () => expect(lateness.length).toBeGreaterThan(targets * 2));
  await monitor.stop(1_000);
  await outbox.stop();
  await channel.close();
  expect(store.deliveries.length).toBeGreaterThan(targets / 2);
  return lateness.toSorted((a, b) => a - b);
}

test('a mail server that hangs delays no check', async () => {
  const late: { readonly phase: string; readonly p50: number; readonly p99: number }[] = [];
  for (const phase of phases) {
    await using server = await startScriptedSmtp(phase === null ? {} : { [phase]: 'hang' });
    const sorted = await latenessWith(server);
    const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
    late.push({ phase: phase ?? 'nowhere', p50: at(0.5), p99: at(0.99) });
    if (phase !== null) expect(server.commands).toContain(phase);
  }
  for (const { phase, p50, p99 } of late) {
    process.stdout.write(`mail server hangs: ${phase.padEnd(8)} checks start late by p50 ${p50} ms, p99 ${p99} ms\n`);
  }
});
