import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { Client } from 'pg';
import { DeadlineError, orAbort } from '#kernel/clock.ts';
import { singleLine } from '#kernel/text.ts';
import { formatDuration } from '#kernel/units.ts';
import { type ProbeContext, type ProbeEnvironment, startPlain } from '../check.ts';
import { closeSocket } from '../connection.ts';
import { nothingFound, type ServerDetail } from '../database/detail.ts';
import { OpenStream } from '../database/open-stream.ts';
import { EarlyEnd, inSession, textOf, unmetValue } from '../database/session.ts';
import { endpointOf } from '../endpoint.ts';
import { streamFailure } from '../network-errors.ts';
import { type Failure, failure, type Outcome } from '../outcome.ts';
import { secure } from '../stream/secure.ts';
import { converseOver, type Talk } from '../stream/talk.ts';
import type { Spec } from './spec.ts';

export const start = startPlain(probe);

/** Signs in, and runs one statement in a read-only transaction (PostgreSQL's protocol 3.0). */
async function probe(spec: Spec, context: ProbeContext, environment: ProbeEnvironment): Promise<Outcome<ServerDetail>> {
  const endpoint = endpointOf(spec.host);
  return converseOver(
    { endpoint, spec, tls: null, detail: nothingFound() },
    context,
    environment,
    async (socket, found) => {
      if (spec.tls === false) return run(socket, spec, found);
      const refusal = await askForTls(socket, found);
      if (refusal !== null) return refusal;
      const wishes = spec.tls === true ? { verify: true } : spec.tls;
      const secured = await secure(socket, endpoint.name, wishes, found);
      found.detail.tls = secured.tls;
      if (!secured.ok) return secured.failure;
      try {
        return await run(secured.socket, spec, found);
      } finally {
        await closeSocket(secured.socket);
      }
    },
  );
}

const sslRequest = Buffer.from('0000000804d2162f', 'hex');

// One byte answers: what comes with it before TLS was put there by someone on the way (CVE-2021-23222).
async function askForTls(socket: Socket, { signal }: Talk<ServerDetail>): Promise<Failure | null> {
  try {
    const answered = once(socket, 'data', { signal });
    const ended = once(socket, 'end', { signal }).then(() => null);
    socket.write(sslRequest);
    const answer = await orAbort(Promise.race([answered, ended]), signal);
    if (answer === null) return failure('target', 'closed', 'connection closed after the request for TLS');
    const [bytes]: unknown[] = answer;
    if (!(bytes instanceof Buffer))
      return failure('target', 'protocol', 'the server did not answer the request for TLS');
    const said = bytes.toString('latin1');
    if (said === 'S') return null;
    if (said === 'N') return failure('target', 'tls', 'the server does not offer TLS');
    return failure(
      'target',
      'protocol',
      `the server answered the request for TLS with ${JSON.stringify(singleLine(said, 50))}`,
    );
  } catch (error) {
    const { reason } = signal;
    if (signal.aborted && reason instanceof DeadlineError)
      return failure('target', 'timeout', `no answer to the request for TLS within ${formatDuration(reason.ms)}`);
    signal.throwIfAborted();
    return streamFailure(error, 'while asking for TLS');
  }
}

async function run(socket: Socket, spec: Spec, found: Talk<ServerDetail>): Promise<Failure | null> {
  const [{ Client, DatabaseError }, { name, port }] = [await loadClient(), endpointOf(spec.host)];
  const { detail } = found;
  const stream = new OpenStream(socket);
  const client = new Client({
    stream: () => stream,
    host: name,
    port: port ?? undefined,
    ssl: false,
    user: spec.username,
    // A function keeps the library from looking for a password in files and variables of its own.
    password: () => spec.password ?? '',
    database: spec.database ?? spec.username,
    application_name: 'watchpost',
    types: { getTypeParser: () => (value: unknown) => value },
  });
  try {
    const broken = failureOf(client);
    const wrong = await inSession<Client>(found, {
      stream,
      async login() {
        await Promise.race([client.connect(), broken]);
        return client;
      },
      async query(session) {
        await Promise.race([ask(session, spec, detail), broken]);
      },
      isAnswer: (error) => error instanceof DatabaseError,
    });
    return wrong ?? unmetValue(spec.expect, detail, found.seconds);
  } finally {
    stream.destroy();
  }
}

async function ask(client: Client, { query }: Spec, detail: ServerDetail): Promise<void> {
  await client.query('BEGIN READ ONLY');
  // The extended protocol takes one statement only: no second one can end the transaction.
  const statement = { text: query, rowMode: 'array', queryMode: 'extended' } as const;
  const { rows, rowCount } = await client.query<unknown[]>(statement);
  const [first] = rows;
  detail.value = textOf(first?.[0]);
  detail.rows = rowCount ?? rows.length;
  const version = await client.query({ text: 'SHOW server_version', rowMode: 'array' });
  detail.server = singleLine(`PostgreSQL ${String(version.rows[0]?.[0] ?? '')}`.trim());
}

// Rejects when the connection breaks: the library then leaves what was asked without an answer. It listens on, because an error that
// nothing listens for ends the process.
async function failureOf(client: Client): Promise<never> {
  return new Promise((_, reject) => {
    client.on('error', reject);
    client.once('end', () => reject(new EarlyEnd()));
  });
}

// Loaded only where such a target is checked.
async function loadClient() {
  const { default: pg } = await import('pg');
  return pg;
}
