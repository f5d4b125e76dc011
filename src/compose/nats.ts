import { readFile } from 'node:fs/promises';
import { fromSeed } from '@nats-io/nkeys';
import type { NatsAccess } from '#config/config.ts';
import { watchEnrolled } from '#config/enrolled.ts';
import type { Clock } from '#kernel/clock.ts';
import { messageOf, WatchpostError } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import { exposedAdvice, isExposed } from '#kernel/private-files.ts';
import type { Random } from '#kernel/random.ts';
import { Secret } from '#kernel/secret.ts';
import { inboxOf } from '#protocol/nodes.ts';
import type { Store } from '#store/sqlite.ts';
import type { Account } from '#transport/nats/connection.ts';
import { type Absence, createNatsTransport, type NatsTransport } from '#transport/nats/hub.ts';
import type { LateResult } from '#transport/nats/results.ts';

interface Environment {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** Nodes on other machines, wired to the store. Rejects with `config_invalid` where the hub's key cannot be used. */
export async function startNats(
  access: NatsAccess,
  store: Pick<Store, 'recordLate'> | null,
  onAbsence: (absence: Absence) => void,
  { clock, random, log }: Environment,
): Promise<NatsTransport> {
  const account = await hubAccount(access);
  if (await isExposed(access.seedFile)) log.warn({ file: access.seedFile }, exposedAdvice(access.seedFile));
  const enrolled = watchEnrolled(access.nodesFile);
  const transport = createNatsTransport({
    account,
    enrolled,
    onLate: async (late) => {
      if (store === null) throw new Error('results are not stored here');
      await storeLate(late, transport, store, { clock, log });
    },
    onAbsence(absence) {
      tellAbsence(absence, log);
      onAbsence(absence);
    },
    absentAfterMs: access.absentAfterMs,
    clock,
    random,
    log,
  });
  return transport;
}

/** How the hub signs in. */
export async function hubAccount({ servers, seedFile, ca }: NatsAccess): Promise<Account> {
  const seed = await readSeed(seedFile, 'make it with "watchpost nodes init"');
  return { servers, seed, ca, name: 'watchpost hub', inbox: inboxOf('hub') };
}

/** Reads an nkey seed. Rejects with `config_invalid`. */
export async function readSeed(path: string, wayOut: string): Promise<Secret> {
  try {
    return parseSeed((await readFile(path, 'utf8')).trim());
  } catch (error) {
    throw new WatchpostError('config_invalid', `${path}: holds no nkey seed (${messageOf(error)}); ${wayOut}`, {
      cause: error,
    });
  }
}

/** Throws where the text is no seed of a user's nkey. */
export function parseSeed(text: string): Secret {
  if (!text.startsWith('SU')) throw new Error('a seed begins with SU');
  fromSeed(new TextEncoder().encode(text));
  return new Secret(text);
}

interface Round {
  readonly target: string;
  readonly dueAt: number;
}

/** The name of the run for a round. */
export const formatRound = ({ target, dueAt }: Round) => `${target}/${dueAt}`;

function parseRound(name: string): Round | null {
  const [, target, dueAt] = /^(.+)\/(\d{1,15})$/.exec(name) ?? [];
  return target === undefined ? null : { target, dueAt: Number(dueAt) };
}

async function storeLate(
  { node, run, outcome }: LateResult,
  transport: NatsTransport,
  store: Pick<Store, 'recordLate'>,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): Promise<void> {
  const round = parseRound(run);
  const info = transport.nodes().find(({ info }) => info.name === node)?.info;
  if (round === null || info === undefined) return;
  const result = await store.recordLate({ ...round, vote: { node: info, outcome }, at: clock.now() });
  log.info({ node, ...round, result }, 'late result');
}

function tellAbsence({ node, since, reason }: Absence, log: Log): void {
  const about = { node: node.name, since: new Date(since).toISOString() };
  if (reason === null) log.info(about, 'node is back');
  else log.error({ ...about, reason }, 'node has been away for long');
}
