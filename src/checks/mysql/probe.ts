import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { Connection } from 'mysql2';
import { systemCode } from '#kernel/errors.ts';
import { singleLine } from '#kernel/text.ts';
import { expiresAt } from '../certificate.ts';
import { type ProbeContext, type ProbeEnvironment, startPlain } from '../check.ts';
import { nothingFound, type ServerDetail } from '../database/detail.ts';
import { OpenStream } from '../database/open-stream.ts';
import { EarlyEnd, inSession, textOf, unmetValue } from '../database/session.ts';
import { endpointOf } from '../endpoint.ts';
import type { Failure, Outcome } from '../outcome.ts';
import { converseOver, type Talk } from '../stream/talk.ts';
import type { Tls } from '../stream/tls.ts';
import { certificateFailure, handshakeFailure, verifyCertificate } from '../tls-connection.ts';
import type { Spec } from './spec.ts';

export const start = startPlain(probe);

/** Signs in, and runs one statement in a read-only transaction (MySQL's client/server protocol). */
async function probe(spec: Spec, context: ProbeContext, environment: ProbeEnvironment): Promise<Outcome<ServerDetail>> {
  const endpoint = endpointOf(spec.host);
  return converseOver(
    { endpoint, spec, tls: null, detail: nothingFound() },
    context,
    environment,
    async (socket, found) => run(socket, spec, found),
  );
}

async function run(socket: Socket, spec: Spec, found: Talk<ServerDetail>): Promise<Failure | null> {
  const { createConnection } = await loadClient();
  const { detail } = found;
  const wishes = spec.tls === false ? null : spec.tls === true ? { verify: true } : spec.tls;
  const serverName = wishes?.server_name ?? endpointOf(spec.host).name;
  const stream = new OpenStream(socket);
  const connection = createConnection({
    stream: () => stream,
    host: serverName,
    user: spec.username,
    password: spec.password ?? '',
    ...(spec.database === undefined ? {} : { database: spec.database }),
    ...(wishes === null ? {} : { ssl: tlsOf(wishes) }),
    connectTimeout: spec.timeout,
    rowsAsArray: true,
    typeCast: (field) => field.string(),
    disableEval: true,
  });
  try {
    const broken = failureOf(connection);
    const wrong = await inSession<Connection>(found, {
      stream,
      async login() {
        await Promise.race([connected(connection), broken]);
        if (wishes !== null) describeTls(connection, serverName, found);
        return connection;
      },
      async query(session) {
        await Promise.race([ask(session, spec, detail), broken]);
      },
      isAnswer: (error) => typeof Reflect.get(Object(error), 'sqlState') === 'string',
      explain: (error) => (wishes === null ? null : tlsFault(connection, error)),
    });
    return wrong ?? unmetValue(spec.expect, detail, found.seconds);
  } finally {
    connection.destroy();
    stream.destroy();
  }
}

function tlsOf({ ca, min_version, verify }: Tls) {
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(min_version === undefined ? {} : { minVersion: min_version }),
    // The library must know before it sends the password.
    rejectUnauthorized: verify,
    verifyIdentity: verify,
  };
}

// The library keeps its secured socket to itself.
function securedOf(connection: Connection): TLSSocket | null {
  const stream: unknown = Reflect.get(connection, 'stream');
  return stream instanceof TLSSocket ? stream : null;
}

function describeTls(
  connection: Connection,
  serverName: string,
  { detail, findings, clock }: Talk<ServerDetail>,
): void {
  const secured = securedOf(connection);
  if (secured === null) return;
  const { certificate } = verifyCertificate(secured, serverName, clock.now());
  if (certificate !== null) findings.facts.certificate_expires_at = expiresAt(certificate);
  detail.tls = { protocol: secured.getProtocol() ?? '', cipher: secured.getCipher().standardName, certificate };
}

async function connected(connection: Connection): Promise<void> {
  return new Promise((resolve, reject) => {
    connection.connect((error) => (error === null ? resolve() : reject(error)));
  });
}

async function ask(connection: Connection, { query }: Spec, detail: ServerDetail): Promise<void> {
  const rowsOf = async (text: string) =>
    new Promise<readonly unknown[]>((resolve, reject) => {
      connection.query(text, (error: unknown, rows: unknown) => {
        if (error instanceof Error) reject(error);
        else resolve(Array.isArray(rows) ? rows : []);
      });
    });
  // Statements that define data end a transaction before they run: the session is read-only as well.
  await rowsOf('SET SESSION TRANSACTION READ ONLY');
  await rowsOf('START TRANSACTION READ ONLY');
  const rows = await rowsOf(query);
  detail.value = valueIn(rows);
  detail.rows = rows.length;
  const version = valueIn(await rowsOf('SELECT VERSION()')) ?? '';
  detail.server = singleLine(version.includes('MariaDB') ? version : `MySQL ${version}`);
}

function valueIn([row]: readonly unknown[]): string | null {
  return textOf(Array.isArray(row) ? row[0] : null);
}

// Rejects when the connection breaks: the library then leaves what was asked without an answer. It listens on, because an error that
// nothing listens for ends the process.
async function failureOf(connection: Connection): Promise<never> {
  return new Promise((_, reject) => {
    connection.on('error', (error) =>
      reject(systemCode(error) === 'PROTOCOL_CONNECTION_LOST' ? new EarlyEnd() : error),
    );
    connection.once('end', () => reject(new EarlyEnd()));
  });
}

// The library gives every fault of TLS a code of its own; what OpenSSL found is known to its socket.
function tlsFault(connection: Connection, error: unknown): Failure | null {
  const secured = securedOf(connection);
  const problem: unknown = secured?.authorizationError;
  if (problem !== undefined && problem !== null) return certificateFailure(problem);
  return systemCode(error)?.startsWith('HANDSHAKE_') === true ? handshakeFailure(error) : null;
}

// Loaded only where such a target is checked.
async function loadClient() {
  const { default: mysql } = await import('mysql2');
  return mysql;
}
