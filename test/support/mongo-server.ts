import { createHash } from 'node:crypto';
import type { Socket } from 'node:net';
import { Binary, deserialize, type Document, Long, serialize } from 'bson';
import type { TlsFiles } from './database-servers.ts';
import { beginLogin, type ServerLogin, store, type StoredSecret } from './mongo-scram.ts';
import { type Listening, tcpServer, tlsServer } from './tcp-servers.ts';

// As much of a MongoDB server as clients need to sign in and to read: OP_MSG, and the OP_QUERY with which drivers greet. Debian has no
// server; the official driver says whether this one is right.

export interface MongoUser {
  readonly name: string;
  /** In the form that SASLprep gives it. */
  readonly password: string;
  readonly mechanisms?: readonly ('SCRAM-SHA-256' | 'SCRAM-SHA-1')[];
  readonly database?: string;
  /** The databases that may be read. Default: all. */
  readonly reads?: readonly string[];
}

export interface MongoOptions {
  readonly users?: readonly MongoUser[];
  /** What it adds to the answer to `hello`. */
  readonly hello?: Document;
  /** Collections by database and name: `shop.orders`. */
  readonly data?: Readonly<Record<string, readonly Document[]>>;
  /** What it answers instead, by the name of the command: a document, bytes as they are, or nothing at all. */
  readonly instead?: Readonly<Record<string, (command: Document) => Document | Buffer | null>>;
  /** What it makes of its last message of a login. */
  readonly alterFinal?: (message: string) => string;
  readonly iterations?: number;
  /** Ends a login with an empty message more, as servers before 4.4 do, whatever the client prefers. */
  readonly isLongWinded?: boolean;
  readonly tls?: TlsFiles;
  readonly port?: number;
}

export interface MongoServer extends Listening {
  /** All commands that came, by name. */
  readonly commands: readonly string[];
}

interface Client {
  user: MongoUser | null;
  login: { readonly user: MongoUser; readonly scram: ServerLogin; isProved: boolean } | null;
}

const [opReply, opQuery, opMsg] = [1, 2_004, 2_013];

export async function startMongo(options: MongoOptions = {}): Promise<MongoServer> {
  const commands: string[] = [];
  const answer = replier(options);
  const serve = (socket: Socket) => {
    const client: Client = { user: null, login: null };
    let received: Buffer = Buffer.alloc(0);
    socket.on('data', (piece: Buffer) => {
      received = Buffer.concat([received, piece]);
      while (received.length >= 16 && received.length >= received.readInt32LE(0)) {
        const length = received.readInt32LE(0);
        const { command, reply } = readMessage(received.subarray(0, length));
        received = received.subarray(length);
        commands.push(Object.keys(command)[0] ?? '');
        const said = answer(command, client);
        if (said !== null) socket.write(Buffer.isBuffer(said) ? said : reply(said));
      }
    });
    socket.on('end', () => socket.end());
  };
  const { tls, port = 0 } = options;
  const listening =
    tls === undefined
      ? await tcpServer(serve, '127.0.0.1', port)
      : await tlsServer({ ...tls }, serve, '127.0.0.1', port);
  return Object.assign(listening, { commands });
}

/** A reply as OP_MSG. */
export function opMsgReply(document: Uint8Array, { to = 1, flags = 0, kind = 0, length = 0 } = {}): Buffer {
  const head = Buffer.alloc(21);
  head.writeInt32LE(length === 0 ? head.length + document.length : length, 0);
  head.writeInt32LE(to, 8);
  head.writeInt32LE(opMsg, 12);
  head.writeUInt32LE(flags, 16);
  head.writeUInt8(kind, 20);
  return Buffer.concat([head, document]);
}

interface MongoMessage {
  readonly command: Document;
  readonly reply: (document: Document) => Buffer;
}

function readMessage(message: Buffer): MongoMessage {
  const [request, code] = [message.readInt32LE(4), message.readInt32LE(12)];
  if (code === opMsg) {
    if (message.readUInt32LE(16) !== 0 || message[20] !== 0) throw new Error('unknown flags or sections');
    return {
      command: deserialize(message.subarray(21)),
      reply: (document) => opMsgReply(serialize(document), { to: request }),
    };
  }
  if (code !== opQuery) throw new Error(`unknown operation ${code}`);
  const query = message.subarray(message.indexOf(0, 20) + 9);
  return {
    command: deserialize(query),
    reply(document) {
      const body = serialize(document);
      const head = Buffer.alloc(36);
      head.writeInt32LE(head.length + body.length, 0);
      head.writeInt32LE(request, 8);
      head.writeInt32LE(opReply, 12);
      head.writeInt32LE(1, 32);
      return Buffer.concat([head, body]);
    },
  };
}

const refusal = (code: number, codeName: string, errmsg: string): Document => ({ ok: 0, errmsg, code, codeName });
const wrongLogin = refusal(18, 'AuthenticationFailed', 'Authentication failed.');
const beforeLogin = new Set([
  'hello',
  'ismaster',
  'isMaster',
  'ping',
  'buildInfo',
  'saslStart',
  'saslContinue',
  'endSessions',
]);

function replier(options: MongoOptions): (command: Document, client: Client) => Document | Buffer | null {
  const { users = [], hello: more = {}, data = {}, instead = {} } = options;
  const secrets = new Map<string, StoredSecret>(
    users.flatMap((user) =>
      mechanismsOf(user).map((one) => [`${one} ${idOf(user)}`, secretOf(user, one, options)] as const),
    ),
  );
  const hello = ({ saslSupportedMechs }: Document): Document => {
    const known = users.find((user) => idOf(user) === saslSupportedMechs);
    return {
      isWritablePrimary: true,
      ismaster: true,
      maxBsonObjectSize: 16_777_216,
      maxMessageSizeBytes: 48_000_000,
      maxWriteBatchSize: 100_000,
      localTime: new Date(),
      minWireVersion: 0,
      maxWireVersion: 25,
      readOnly: false,
      ...more,
      ...(known === undefined ? {} : { saslSupportedMechs: mechanismsOf(known) }),
      ok: 1,
    };
  };
  const saslStart = ({ mechanism, payload, $db }: Document, client: Client): Document => {
    const first = textOf(payload);
    const name = (/^n,,n=([^,]*),/.exec(first)?.[1] ?? '').replaceAll('=2C', ',').replaceAll('=3D', '=');
    const id = `${String($db)}.${name}`;
    const [user, secret] = [users.find((one) => idOf(one) === id), secrets.get(`${String(mechanism)} ${id}`)];
    if (user === undefined || secret === undefined) return wrongLogin;
    client.login = { user, scram: beginLogin(first, secret), isProved: false };
    return { conversationId: 1, done: false, payload: bytesOf(client.login.scram.first), ok: 1 };
  };
  const saslContinue = ({ payload }: Document, client: Client): Document => {
    const { login } = client;
    if (login === null) return refusal(17, 'ProtocolError', 'No SASL session state found');
    const last = login.isProved ? '' : login.scram.finish(textOf(payload));
    if (last === null) return wrongLogin;
    const isDone = login.isProved || options.isLongWinded !== true;
    login.isProved = true;
    if (isDone) client.user = login.user;
    const said = last === '' ? '' : (options.alterFinal?.(last) ?? last);
    return { conversationId: 1, done: isDone, payload: bytesOf(said), ok: 1 };
  };
  const read = readerOf(data);
  return (command, client) => {
    const [name = ''] = Object.keys(command);
    const other = instead[name];
    if (other !== undefined) return other(command);
    if (name === 'hello' || name === 'isMaster' || name === 'ismaster') return hello(command);
    if (name === 'saslStart') return saslStart(command, client);
    if (name === 'saslContinue') return saslContinue(command, client);
    if (!beforeLogin.has(name) && users.length > 0 && client.user === null)
      return refusal(13, 'Unauthorized', `Command ${name} requires authentication`);
    const database = String(command['$db']);
    if (!beforeLogin.has(name) && client.user?.reads?.includes(database) === false)
      return refusal(
        13,
        'Unauthorized',
        `not authorized on ${database} to execute command { ${name}: "${String(command[name])}" }`,
      );
    if (more['secondary'] === true && !beforeLogin.has(name) && !('$readPreference' in command))
      return refusal(13_435, 'NotPrimaryNoSecondaryOk', 'not primary and secondaryOk=false');
    return read(name, command) ?? refusal(59, 'CommandNotFound', `no such command: '${name}'`);
  };
}

function readerOf(
  data: Readonly<Record<string, readonly Document[]>>,
): (name: string, command: Document) => Document | null {
  const matching = (collection: string, filter: Document = {}) =>
    (data[collection] ?? []).filter((document) =>
      Object.entries(filter).every(([key, value]) => document[key] === value),
    );
  return (name, command) => {
    const collection = `${String(command['$db'])}.${String(command[name])}`;
    switch (name) {
      case 'ping':
      case 'endSessions':
        return { ok: 1 };
      case 'killCursors':
        return { cursorsKilled: command['cursors'] as unknown, ok: 1 };
      case 'buildInfo':
        return { version: '8.0.4', ok: 1 };
      case 'listDatabases': {
        const names = new Set(Object.keys(data).map((one) => one.replace(/\..*/, '')));
        return { databases: [...names].map((one) => ({ name: one, sizeOnDisk: 8_192, empty: false })), ok: 1 };
      }
      case 'count':
        return { n: matching(collection, command['query'] as Document | undefined).length, ok: 1 };
      case 'find': {
        const found = matching(collection, command['filter'] as Document | undefined).slice(
          0,
          Number(command['limit'] ?? 0) || undefined,
        );
        const batch = found.slice(0, Number(command['batchSize'] ?? 101));
        const id = batch.length < found.length ? Long.fromString('7123456789012345678') : Long.ZERO;
        return { cursor: { firstBatch: batch, id, ns: collection }, ok: 1 };
      }
      default:
        return null;
    }
  };
}

const mechanismsOf = ({ mechanisms = ['SCRAM-SHA-256', 'SCRAM-SHA-1'] }: MongoUser) => mechanisms;
const idOf = ({ name, database = 'admin' }: MongoUser) => `${database}.${name}`;
const bytesOf = (text: string) => new Binary(Buffer.from(text));

function textOf(payload: unknown): string {
  return payload instanceof Binary ? Buffer.from(payload.value()).toString() : '';
}

function secretOf({ name, password }: MongoUser, mechanism: string, { iterations }: MongoOptions): StoredSecret {
  if (mechanism === 'SCRAM-SHA-256') return store('sha256', password, iterations ?? 15_000);
  const digest = createHash('md5').update(`${name}:mongo:${password}`).digest('hex');
  return store('sha1', digest, iterations ?? 10_000);
}
