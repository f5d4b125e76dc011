import type { Socket } from 'node:net';
import type { AbstractConnector, Redis } from 'ioredis';
import { type ProbeContext, type ProbeEnvironment, startPlain } from '../check.ts';
import { nothingFound, type ServerDetail } from '../database/detail.ts';
import { OpenStream } from '../database/open-stream.ts';
import { asksForTls } from '../database/ports.ts';
import { EarlyEnd, inSession, textOf, unmetValue } from '../database/session.ts';
import { endpointOf } from '../endpoint.ts';
import type { Failure, Outcome } from '../outcome.ts';
import { converseOver, type Talk } from '../stream/talk.ts';
import type { Spec } from './spec.ts';
import { wordsOf } from './words.ts';
import { ports } from './ports.ts';

export const start = startPlain(probe);

/** Signs in, and runs one command (RESP, redis.io/docs/reference/protocol-spec). */
async function probe(spec: Spec, context: ProbeContext, environment: ProbeEnvironment): Promise<Outcome<ServerDetail>> {
  const endpoint = endpointOf(spec.host);
  const wishes = typeof spec.tls === 'object' ? spec.tls : { verify: true };
  const tls = spec.tls === false && !asksForTls(endpoint, ports) ? null : { wishes, alpn: [] };
  return converseOver({ endpoint, spec, tls, detail: nothingFound() }, context, environment, async (socket, found) =>
    run(socket, spec, found),
  );
}

async function run(socket: Socket, spec: Spec, found: Talk<ServerDetail>): Promise<Failure | null> {
  const { AbstractConnector, Redis, ReplyError } = await loadClient();
  const { detail } = found;
  const stream = new OpenStream(socket);
  const client = new Redis({
    Connector: connectorTo(stream, AbstractConnector),
    lazyConnect: true,
    protocol: 2,
    disableClientInfo: true,
    enableReadyCheck: false,
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
  });
  try {
    const broken = failureOf(client);
    const wrong = await inSession<Redis>(found, {
      stream,
      async login() {
        await Promise.race([signIn(client, spec), broken]);
        return client;
      },
      async query(session) {
        await Promise.race([ask(session, spec, detail), broken]);
      },
      isAnswer: (error) => error instanceof ReplyError,
    });
    return wrong ?? unmetValue(spec.expect, detail, found.seconds);
  } finally {
    client.disconnect();
    stream.destroy();
  }
}

async function signIn(client: Redis, { username, password, database }: Spec): Promise<void> {
  await client.connect();
  if (password !== undefined) await client.call('AUTH', ...(username === undefined ? [] : [username]), password);
  if (database !== 0) await client.call('SELECT', String(database));
}

async function ask(client: Redis, { command }: Spec, detail: ServerDetail): Promise<void> {
  const [name = 'PING', ...rest] = wordsOf(command);
  const reply: unknown = await client.call(name, ...rest);
  if (Array.isArray(reply)) detail.rows = reply.length;
  detail.value = textOf(Array.isArray(reply) ? reply.length : reply);
}

// Rejects when the connection breaks: the library then leaves what was asked without an answer. It listens on, because an error that
// nothing listens for ends the process.
async function failureOf(client: Redis): Promise<never> {
  return new Promise((_, reject) => {
    client.on('error', reject);
    client.once('close', () => reject(new EarlyEnd()));
  });
}

type LibraryStream = Awaited<ReturnType<AbstractConnector['connect']>>;

/** What the library asks for a connection. */
function connectorTo(stream: OpenStream, Connector: typeof AbstractConnector) {
  return class OpenConnector extends Connector {
    constructor() {
      super(0);
    }
    override disconnect(): void {
      stream.destroy();
    }
    async connect(): Promise<LibraryStream> {
      // Sound because it has all that the library uses of a socket: the methods of a Duplex, and those of `OpenStream`.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      return stream as unknown as LibraryStream;
    }
  };
}

// Loaded only where such a target is checked.
async function loadClient() {
  const { AbstractConnector, Redis, ReplyError } = await import('ioredis');
  return { AbstractConnector, Redis, ReplyError };
}
