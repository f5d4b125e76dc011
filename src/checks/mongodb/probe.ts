import type { Socket } from 'node:net';
import type { Document } from 'bson';
import { messageOf } from '#kernel/errors.ts';
import type { Random } from '#kernel/random.ts';
import { singleLine } from '#kernel/text.ts';
import { type ProbeContext, type ProbeEnvironment, startPlain } from '../check.ts';
import { OpenStream } from '../database/open-stream.ts';
import { inSession, textOf, unmetValue } from '../database/session.ts';
import { endpointOf } from '../endpoint.ts';
import { compilePath, PathError } from '../http/json-path.ts';
import { type Failure, failure, type Outcome } from '../outcome.ts';
import { converseOver, type Talk } from '../stream/talk.ts';
import { completeCommand, parseCommand } from './command.ts';
import { type Bson, CommandRefusal, MongoConnection } from './connection.ts';
import type { Detail } from './detail.ts';
import { nothingSaid, roleText } from './role.ts';
import { greet, type ServerHello, signIn } from './login.ts';
import { ProtocolFault } from './scram.ts';
import type { Expectation, Spec } from './spec.ts';

export const start = startPlain(probe);

/** Signs in, and runs one command (MongoDB's wire protocol). */
async function probe(spec: Spec, context: ProbeContext, environment: ProbeEnvironment): Promise<Outcome<Detail>> {
  const endpoint = endpointOf(spec.host);
  const tls = spec.tls === false ? null : { wishes: spec.tls === true ? { verify: true } : spec.tls, alpn: [] };
  return converseOver({ endpoint, spec, tls, detail: nothingSaid() }, context, environment, async (socket, found) =>
    run(socket, spec, found, environment.random),
  );
}

async function run(socket: Socket, spec: Spec, found: Talk<Detail>, random: Random): Promise<Failure | null> {
  const bson = await loadBson();
  const { detail } = found;
  const stream = new OpenStream(socket);
  const server = new MongoConnection(stream, bson);
  try {
    const wrong = await inSession<ServerHello>(found, {
      stream,
      async login() {
        const hello = await greet(server, spec);
        Object.assign(detail, { role: hello.role, set: hello.set });
        if (spec.username !== undefined) await signIn(server, spec, { hello, random, bson });
        return hello;
      },
      query: async (hello) => ask(server, spec, { hello, detail, bson }),
      isAnswer: (error) => error instanceof CommandRefusal,
      explain: faultOf,
    });
    return wrong ?? unmetRole(spec.expect, detail) ?? unmetValue(spec.expect, detail, found.seconds);
  } finally {
    stream.destroy();
  }
}

function faultOf(error: unknown): Failure | null {
  if (error instanceof ProtocolFault) return failure('target', 'protocol', messageOf(error));
  if (error instanceof PathError) return failure('target', 'answer', `the reply cannot be read: ${messageOf(error)}`);
  if (error instanceof UnusableCommand) return failure('node', 'unsupported', messageOf(error));
  return null;
}

interface CommandParts {
  readonly hello: ServerHello;
  readonly detail: Detail;
  readonly bson: Bson;
}

async function ask(server: MongoConnection, spec: Spec, { hello, detail, bson }: CommandParts): Promise<void> {
  const command = commandOf(spec, bson);
  // A secondary answers only who says that it may; a server outside of a set need not be asked so. The first key is the name.
  const reads =
    hello.set === null || '$readPreference' in command ? {} : { $readPreference: { mode: 'primaryPreferred' } };
  const reply = await server.run(spec.database, { ...command, ...reads });
  const { cursor } = reply;
  if (isDocument(cursor)) {
    detail.rows = Array.isArray(cursor['firstBatch']) ? cursor['firstBatch'].length : 0;
    await closeCursor(server, spec, cursor, bson);
  }
  detail.value = valueIn(reply, spec.path, bson);
  detail.server = await versionOf(server);
}

class UnusableCommand extends Error {
  override readonly name = 'UnusableCommand';
}

function commandOf({ command, timeout }: Spec, { EJSON }: Bson): Document {
  try {
    const parsed: unknown = EJSON.deserialize(completeCommand(parseCommand(command) ?? {}, timeout), { relaxed: true });
    return isDocument(parsed) ? parsed : {};
  } catch (error) {
    throw new UnusableCommand(`the command is no Extended JSON: ${messageOf(error)}`, { cause: error });
  }
}

// The server would keep what it has not sent for ten minutes.
async function closeCursor(
  server: MongoConnection,
  { database }: Spec,
  cursor: Document,
  { Long }: Bson,
): Promise<void> {
  const id = Long.fromValue(Long.isLong(cursor['id']) ? cursor['id'] : Number(cursor['id'] ?? 0));
  if (id.isZero()) return;
  const collection = String(cursor['ns'] ?? '').replace(/^[^.]*\./, '');
  await server.run(database, { killCursors: collection, cursors: [id] });
}

function valueIn(reply: Document, path: string, { EJSON }: Bson): string | null {
  try {
    const [first] = compilePath(path).valuesIn(EJSON.serialize(reply, { relaxed: true }));
    return textOf(Array.isArray(first) ? first.length : first);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new ProtocolFault('the reply of the server is nested too deeply', { cause: error });
  }
}

// A server may keep its version to itself: that is no failure.
async function versionOf(server: MongoConnection): Promise<string | null> {
  try {
    const { version } = await server.run('admin', { buildInfo: 1 });
    return typeof version === 'string' ? singleLine(`MongoDB ${version}`) : null;
  } catch (error) {
    if (error instanceof CommandRefusal) return null;
    throw error;
  }
}

function unmetRole({ role, set }: Expectation, detail: Detail): Failure | null {
  const is = roleText(detail);
  if (role !== undefined && (detail.role === null || !role.includes(detail.role)))
    return failure('target', 'answer', `the server is ${is}, expected ${role.join(' or ')}`);
  if (set !== undefined && detail.set !== set)
    return failure('target', 'answer', `the server is ${is}, expected the replica set ${JSON.stringify(set)}`);
  return null;
}

function isDocument(value: unknown): value is Document {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

// Loaded only where such a target is checked.
async function loadBson(): Promise<Bson> {
  return import('bson');
}
