import type { EmbeddedNodes } from '#compose/hubs/embedded.ts';
import type { NatsAccess } from '#config/config.ts';
import { watchEnrolled } from '#config/shape/enrolled.ts';
import type { Clock } from '#kernel/clock.ts';
import type { Log } from '#kernel/log.ts';
import { exposedAdvice, isExposed } from '#kernel/private-files.ts';
import type { Random } from '#kernel/random.ts';
import { parseRunName } from '#protocol/run-name.ts';
import type { Store } from '#store/sqlite.ts';
import { createNatsTransport, type NatsTransport } from '#transport/nats/hub.ts';
import { hubAccount, seedFileOf } from '#transport/nats/keys.ts';
import type { LateResult } from '#transport/nats/results.ts';
import type { NodeAbsence } from '#transport/nats/roster.ts';

interface NatsEnvironment {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly embedded?: Pick<EmbeddedNodes, 'isHere'>;
  readonly silentMs?: (node: string) => number;
}

/** Nodes on other machines, wired to the store. Rejects with `config_invalid` if the hub's key cannot be used. */
export async function startNats(
  access: NatsAccess,
  store: Pick<Store, 'recordLate'> | null,
  onAbsence: (absence: NodeAbsence) => void,
  { clock, random, log, embedded, silentMs }: NatsEnvironment,
): Promise<NatsTransport> {
  const account = await hubAccount(access);
  const file = await seedFileOf(access);
  if (await isExposed(file)) log.warn({ file }, exposedAdvice(file));
  const enrolled = watchEnrolled(access.nodesFile);
  const transport = createNatsTransport({
    account,
    enrolled,
    onLate: async (late) => {
      if (store === null) throw new Error('this process does not store results');
      await storeLate(late, transport, store, { clock, log });
    },
    onAbsence(absence) {
      logAbsence(absence, log);
      onAbsence(absence);
    },
    absentAfterMs: access.absentAfterMs,
    isHere: (process) => embedded?.isHere(process) === true,
    ...(silentMs !== undefined && { silentMs }),
    clock,
    random,
    log,
  });
  return transport;
}

async function storeLate(
  { node, run, outcome }: LateResult,
  transport: NatsTransport,
  store: Pick<Store, 'recordLate'>,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): Promise<void> {
  const round = parseRunName(run);
  const info = transport.nodes().find(({ info }) => info.name === node)?.info;
  if (round === null || info === undefined) return;
  const result = await store.recordLate({ ...round, vote: { node: info, outcome }, at: clock.now() });
  log.info({ node, ...round, result }, 'late result');
}

function logAbsence({ node, since, reason }: NodeAbsence, log: Log): void {
  const about = { node: node.name, since: new Date(since).toISOString() };
  if (reason === null) log.info(about, 'node is back');
  else log.error({ ...about, reason }, 'node has been offline for long');
}
