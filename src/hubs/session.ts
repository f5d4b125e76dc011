import { jetstream, JetStreamApiError, jetstreamManager } from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import { z } from 'zod';
import { readJson } from '#kernel/json.ts';
import type { Lease } from './lease.ts';

/** The log and the lease of the hubs, over one connection. Every request rejects if it has no answer in time. */
export interface LogSession {
  readonly connection: NatsConnection;
  lease(): Promise<Lease | null>;
  /** Changes the lease if `revision` is its last one, 0 for none. Resolves to the new revision, or null if it is not. */
  putLease(lease: Omit<Lease, 'revision'>, revision: number): Promise<number | null>;
  /** The message of this sequence; null if there is none, or not yet. */
  read(sequence: number): Promise<Uint8Array | null>;
  /** The first and the last sequence; `last` is 0 and `first` 1 in an empty stream that never had a message. */
  bounds(): Promise<{ readonly first: number; readonly last: number }>;
  /** No record may be longer. */
  readonly mostBytes: number;
  /** Appends if `after` is the last sequence. Resolves to the new sequence, or null if another message came in between. */
  append(bytes: Uint8Array, after: number): Promise<number | null>;
}

export interface LogSessionOptions {
  readonly replicas: number;
  readonly timeoutMs: number;
  /** Called when a request fails: the session is not to be used any more. */
  readonly onFailed: () => void;
}

const usualPayload = 131_072;
const stream = 'WP_LOG';
const bucket = 'WP_HUBS';
const leaseKey = 'lease';
/** Where records go. Hubs hear it too, to read the log at once. */
export const logSubject = 'wp.v1.hubs.log';
/** A hub that is away for longer gets a snapshot. */
const keptHours = 48;

const StoredLease = z.object({ hub: z.string(), epoch: z.int(), isReleased: z.boolean() });

/** Opens the stream and the bucket, and makes them if they are missing. Rejects if the server has no JetStream. */
export async function openSession(connection: NatsConnection, options: LogSessionOptions): Promise<LogSession> {
  const { replicas, timeoutMs: timeout, onFailed } = options;
  const manager = await jetstreamManager(connection, { timeout });
  const client = jetstream(connection, { timeout });
  await makeStream(manager, replicas);
  const kv = await new Kvm(client).create(bucket, { history: 1, replicas });

  async function ask<Answer>(request: () => Promise<Answer>): Promise<Answer> {
    try {
      return await request();
    } catch (error) {
      onFailed();
      throw error;
    }
  }

  return {
    connection,
    // Headers count too.
    mostBytes: (connection.info?.max_payload ?? usualPayload) - 1_024,
    async lease() {
      const entry = await ask(async () => kv.get(leaseKey));
      const stored = entry === null ? null : readJson(StoredLease, entry.string());
      return entry === null || stored === null ? null : { ...stored, revision: entry.revision };
    },
    async putLease(lease, revision) {
      const text = JSON.stringify(lease);
      const put = async () =>
        revision === 0 ? kv.create(leaseKey, text) : kv.update(leaseKey, text, revision, timeout);
      return ask(async () => unlessChanged(put));
    },
    async read(sequence) {
      const message = await ask(async () => manager.streams.getMessage(stream, { seq: sequence }));
      return message?.data ?? null;
    },
    async bounds() {
      const { state } = await ask(async () => manager.streams.info(stream));
      return { first: state.first_seq, last: state.last_seq };
    },
    async append(bytes, after) {
      const expect = { lastSequence: after, streamName: stream };
      const publish = async () => (await client.publish(logSubject, bytes, { expect, timeout })).seq;
      return ask(async () => unlessChanged(publish));
    },
  };
}

async function makeStream(manager: Awaited<ReturnType<typeof jetstreamManager>>, replicas: number): Promise<void> {
  try {
    await manager.streams.info(stream);
  } catch (error) {
    if (!isCode(error, missingStream)) throw error;
    const config = { name: stream, subjects: [logSubject], max_age: keptHours * 3_600e9, num_replicas: replicas };
    try {
      await manager.streams.add(config);
    } catch (failure) {
      // Another hub made it meanwhile.
      if (!isCode(failure, existingStream)) throw failure;
    }
  }
}

// https://github.com/nats-io/nats-server/blob/main/server/errors.json
const missingStream = [10_059];
const existingStream = [10_058];
const wrongLast = [10_071, 10_164];

const isCode = (error: unknown, codes: readonly number[]) =>
  error instanceof JetStreamApiError && codes.includes(error.code);

async function unlessChanged(change: () => Promise<number>): Promise<number | null> {
  try {
    return await change();
  } catch (error) {
    if (isCode(error, wrongLast)) return null;
    throw error;
  }
}
