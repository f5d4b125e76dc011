import { isIP } from 'node:net';
import { connect, errors, type NatsConnection, nkeyAuthenticator, wsconnect } from '@nats-io/transport-node';
import { type Clock, orAbort, sleep } from '#kernel/clock.ts';
import { messageOf } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import type { Random } from '#kernel/random.ts';
import type { Secret } from '#kernel/secret.ts';

/** How to reach the NATS server. */
export interface Account {
  /** `tls://host:4222` and `nats://host:4222` over TCP, `wss://` and `ws://` over WebSocket; all of one kind. */
  readonly servers: readonly string[];
  /** The nkey seed to sign in with. */
  readonly seed: Secret;
  /** PEM certificates to trust instead of the usual ones, or null. */
  readonly ca: string | null;
  /** What the server shows this connection as. */
  readonly name: string;
  /** The prefix of the private inbox that the server grants. */
  readonly inbox: string;
}

export interface ConnectionTimes {
  /** A connection that leaves two pings in a row unanswered is dead. */
  readonly pingEveryMs: number;
  /** For the connection and the sign-in together. */
  readonly connectMs: number;
  /** Before the second try: half of it to all of it, as before all later ones. */
  readonly firstRetryMs: number;
  readonly longestRetryMs: number;
  /** For a question to the other side, after which it is asked once more or given up. */
  readonly answerMs: number;
  /** For how long after a new connection of the hub a command waits for its node to report. */
  readonly arrivalMs: number;
}

export const connectionTimes: ConnectionTimes = {
  pingEveryMs: 5_000,
  connectMs: 5_000,
  firstRetryMs: 500,
  // Hubs wait 15 s for nodes that lost their connection when they did.
  longestRetryMs: 12_000,
  answerMs: 1_500,
  arrivalMs: 3_000,
};

export interface ConnectionOptions {
  readonly account: Account;
  readonly times: ConnectionTimes;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Called with each new connection; what it opens there ends with the connection. */
  readonly onUp: (connection: NatsConnection) => void;
  readonly onDown: (reason: string) => void;
  /** Called when the server refused to sign us in, with how long it has done so, in milliseconds. */
  readonly onRefused: (forMs: number) => void;
}

export interface NatsLink {
  /** The connection as it is now, or null. */
  readonly current: NatsConnection | null;
  /** Why there is none. */
  readonly reason: string;
  close(): Promise<void>;
}

/** Keeps connected until closed: after a loss or a refusal it tries again for ever, at growing distances. */
export function keepConnected(options: ConnectionOptions): NatsLink {
  const { account, times, clock, random, log } = options;
  const stop = new AbortController();
  let current: NatsConnection | null = null;
  let reason = 'not connected to NATS yet';
  let refusedAt: number | null = null;

  const attend = async (connection: NatsConnection): Promise<void> => {
    // It was requested before it was known to be too late.
    if (stop.signal.aborted) return connection.close();
    current = connection;
    refusedAt = null;
    log.info({ server: connection.getServer() }, 'connected to NATS');
    options.onUp(connection);
    logConnectionErrors(connection, log).catch((error: unknown) =>
      log.error({ err: error }, 'cannot subscribe to NATS'),
    );
    const error = await connection.closed();
    current = null;
    lose(`the connection to NATS was lost${error instanceof Error ? `: ${messageOf(error)}` : ''}`);
  };

  const lose = (why: string): void => {
    reason = why;
    if (!stop.signal.aborted) log.warn({ reason: why }, 'not connected to NATS; retrying');
    options.onDown(why);
  };

  const run = async (): Promise<void> => {
    let retryMs = times.firstRetryMs;
    while (!stop.signal.aborted) {
      try {
        const connection = await dialUntil(inAnyOrder(account, random), times, stop.signal);
        retryMs = times.firstRetryMs;
        await attend(connection);
      } catch (error) {
        if (stop.signal.aborted) return;
        lose(explain(error));
        if (isRefusal(error)) options.onRefused(clock.elapsed() - (refusedAt ??= clock.elapsed()));
      }
      // Thousands of nodes must not come back at the same moment.
      if (!(await pause((retryMs * (1 + random.next())) / 2))) return;
      retryMs = Math.min(retryMs * 2, times.longestRetryMs);
    }
  };

  // False if it ended early because the connection is not wanted any more.
  const pause = async (ms: number): Promise<boolean> => {
    try {
      await sleep(clock, ms, stop.signal);
      return true;
    } catch (error) {
      if (stop.signal.aborted) return false;
      throw error;
    }
  };
  const running = run();

  return {
    get current() {
      return current;
    },
    get reason() {
      return reason;
    },
    async close() {
      stop.abort(new Error('the connection to NATS is being closed'));
      await current?.close();
      await running;
    },
  };
}

async function logConnectionErrors(connection: NatsConnection, log: Log): Promise<void> {
  for await (const status of connection.status()) {
    if (status.type === 'error') log.warn({ err: status.error }, 'the NATS server rejected an operation');
    // The client would first wait for its last write, which a dead connection may never take.
    if (status.type === 'staleConnection') await connection.close();
  }
}

/** Connects once, to the first server that takes us. Rejects with what the last one said. */
export async function dial(account: Account, times: ConnectionTimes): Promise<NatsConnection> {
  let last: unknown = new Error('there is no server to connect to');
  for (const server of account.servers) {
    try {
      return await dialServer(server, account, times);
    } catch (error) {
      last = error;
    }
  }
  throw last;
}

async function dialServer(server: string, account: Account, times: ConnectionTimes): Promise<NatsConnection> {
  const overWeb = /^wss?:/.test(server);
  return (overWeb ? wsconnect : connect)({
    servers: [server],
    authenticator: nkeyAuthenticator(new TextEncoder().encode(account.seed.reveal())),
    name: account.name,
    inboxPrefix: account.inbox,
    reconnect: false,
    ignoreClusterUpdates: true,
    noAsyncTraces: true,
    pingInterval: times.pingEveryMs,
    maxPingOut: 2,
    timeout: times.connectMs,
    ...(overWeb ? {} : encryption(server, account)),
  });
}

// Without it a man in the middle could talk us out of TLS.
function encryption(server: string, { servers, ca }: Account): { readonly tls?: object } {
  if (!servers.some((one) => one.startsWith('tls:')) && ca === null) return {};
  const host = URL.parse(server)?.hostname.replace(/^\[(.*)\]$/, '$1') ?? '';
  // The client names no server that is an address, and the certificate would be verified for "localhost".
  return { tls: { ...(ca === null ? {} : { ca }), ...(isIP(host) === 0 ? {} : { host }) } };
}

// So that nodes spread over the servers.
function inAnyOrder(account: Account, random: Random): Account {
  const first = Math.floor(random.next() * account.servers.length);
  return { ...account, servers: [...account.servers.slice(first), ...account.servers.slice(0, first)] };
}

async function dialUntil(account: Account, times: ConnectionTimes, signal: AbortSignal): Promise<NatsConnection> {
  const dialling = dial(account, times);
  try {
    return await orAbort(dialling, signal);
  } catch (error) {
    if (signal.aborted) {
      dialling.then(
        (late) => late.close(),
        // This connection is not awaited any more.
        () => {},
      );
    }
    throw error;
  }
}

function isRefusal(error: unknown): boolean {
  if (error instanceof errors.AuthorizationError) return true;
  return error instanceof Error && error.cause !== undefined && isRefusal(error.cause);
}

function explain(error: unknown): string {
  if (isRefusal(error)) return 'the NATS server refuses this key (not enrolled, revoked, or its list not reloaded)';
  const cause = error instanceof Error && error.cause instanceof Error ? `: ${messageOf(error.cause)}` : '';
  return `NATS cannot be reached: ${messageOf(error)}${cause}`;
}
