import { rename, rm } from 'node:fs/promises';
import type { NatsConnection } from '@nats-io/transport-node';
import { type Clock, sleep } from '#kernel/clock.ts';
import { messageOf } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import { handInLate } from '#compose/hubs/late.ts';
import { askHubs, fetchSnapshot } from '#hubs/peers.ts';

export interface RestoreOptions {
  /** The database file. */
  readonly path: string;
  readonly name: string;
  readonly connection: () => NatsConnection | null;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** What this hub wrote while it was alone. */
  readonly backlog: readonly Uint8Array[];
}

const retryMs = 2_000;

/** Fetches the database of the hub that leads to a file beside the own one; tries until it has it. Gives the file. */
export async function fetchHistory(options: RestoreOptions): Promise<string> {
  const { path, name, connection, clock, log, signal } = options;
  const incoming = `${path}.incoming`;
  let { backlog } = options;
  for (let said = ''; ;) {
    signal.throwIfAborted();
    try {
      const current = connection();
      if (current === null) throw new Error('there is no connection to NATS');
      const from = (await askHubs(current)).find((hub) => hub.role === 'leader' && hub.name !== name);
      if (from === undefined) throw new Error('no hub leads');
      const votes = backlog.length === 0 ? 0 : await handInLate(current, from.name, backlog);
      backlog = [];
      log.info({ from: from.name, votes }, 'copying the history');
      await fetchSnapshot(current, from.name, incoming, signal);
      return incoming;
    } catch (error) {
      if (said !== messageOf(error))
        log.warn({ reason: messageOf(error) }, 'cannot copy the history of another hub; retrying');
      said = messageOf(error);
    }
    await sleep(clock, retryMs, signal);
  }
}

/** Puts a fetched database in the place of the own one, which is kept beside it. The own one must be closed. */
export async function putInPlace(path: string, incoming: string): Promise<void> {
  await rename(path, `${path}.replaced`);
  for (const end of ['-wal', '-shm']) await rm(`${path}${end}`, { force: true });
  await rename(incoming, path);
}
