import type { NatsConnection } from '@nats-io/transport-node';
import type { CheckRunnerEnvironment } from '#compose/checking.ts';
import type { NatsAccess } from '#config/config.ts';
import { type PeerPorts, servePeers } from '#hubs/peers.ts';
import { type LogSession, openSession } from '#hubs/session.ts';
import { connectionTimes, keepConnected } from '#transport/nats/connection.ts';
import { hubAccount } from '#transport/nats/keys.ts';

/** This hub's own connection for its log and for other hubs. */
export interface HubLink {
  connection(): NatsConnection | null;
  /** The log over the connection as it is now; null if there is none. */
  session(): Promise<LogSession | null>;
  close(): Promise<void>;
}

const timeoutMs = 2_000;
// A leader that waits long for a new connection would go on alone.
const longestRetryMs = 2_000;

/** Keeps connected and answers other hubs. Rejects with `config_invalid` if the key cannot be used. */
export async function openLink(
  access: NatsAccess,
  replicas: number,
  { clock, random, log }: Pick<CheckRunnerEnvironment, 'clock' | 'random' | 'log'>,
  ports: PeerPorts & { readonly onUp: (connection: NatsConnection) => void; readonly onDown: () => void },
): Promise<HubLink> {
  const account = { ...(await hubAccount(access)), name: `watchpost hub ${ports.name}` };
  let opened: { readonly on: NatsConnection; readonly session: Promise<LogSession> } | null = null;
  // The stream may be gone: the next session makes it anew.
  const onFailed = () => {
    opened = null;
  };
  const link = keepConnected({
    account,
    times: { ...connectionTimes, longestRetryMs },
    clock,
    random,
    log,
    onUp(connection) {
      servePeers(connection, ports);
      ports.onUp(connection);
    },
    onDown() {
      onFailed();
      ports.onDown();
    },
    onRefused: () => {},
  });

  return {
    connection: () => link.current,
    async session() {
      const on = link.current;
      if (on === null) return null;
      if (opened?.on !== on) {
        const session = openSession(on, { replicas, timeoutMs, onFailed });
        opened = { on, session };
        // The caller gets the reason.
        session.catch(onFailed);
      }
      return opened.session;
    },
    close: async () => link.close(),
  };
}
