import { connect, type Msg, nkeyAuthenticator, type NatsConnection } from '@nats-io/transport-node';
import { readJson } from '#kernel/json.ts';
import {
  CommandMessage,
  type CommandReply,
  protocolRange,
  type Report,
  subjectsOf,
  type WelcomeMessage,
} from '#protocol/nodes.ts';
import { expect } from 'vitest';
import type { NatsServer } from './nats-server.ts';
import { eventually } from './program.ts';
import { measured } from './remote-nodes.ts';

// A node by hand: it has a node's own rights, to misbehave with.

export async function signInAs(server: NatsServer, name?: string): Promise<NatsConnection> {
  const { seed, inbox } = server.account(name);
  return connect({
    servers: server.url,
    authenticator: nkeyAuthenticator(new TextEncoder().encode(seed.reveal())),
    inboxPrefix: inbox,
    reconnect: false,
  });
}

export const report = (more: Partial<Report> = {}): Report => ({
  protocol: [...protocolRange],
  process: 'rogue',
  version: '1.2.3',
  capabilities: {},
  running: 0,
  queued: 0,
  lagSeconds: 0,
  spooled: 0,
  clockOffsetMs: null,
  roundTripMs: null,
  phase: 'serving',
  ...more,
});

/** Answers a report, as the hub. */
export function welcome(message: Msg): void {
  const answer: WelcomeMessage = { protocol: [...protocolRange], state: 'welcome', reason: null, now: Date.now() };
  message.respond(JSON.stringify(answer));
}

/** Reports in, as the node of this name. */
export async function reportIn(connection: NatsConnection, name: string, more: Partial<Report> = {}) {
  const answer = await connection.request(subjectsOf(name).report, JSON.stringify(report(more)), { timeout: 30_000 });
  return answer.json<{ state: string; reason: string | null }>();
}

export interface HandMade {
  readonly connection: NatsConnection;
  /** The next command, once it is here; it is taken on. */
  readonly next: () => Promise<CommandMessage>;
}

/** Serves as a node by hand. */
export async function serveByHand(server: NatsServer, name: string): Promise<HandMade> {
  const connection = await signInAs(server, name);
  const commands: Msg[] = [];
  connection.subscribe(subjectsOf(name).command('rogue'), { callback: (_, message) => void commands.push(message) });
  await reportIn(connection, name);
  return {
    connection,
    async next() {
      await eventually(30_000, () => expect(commands).not.toEqual([]));
      const message = commands.shift();
      const taken = readJson(CommandMessage, message?.string() ?? '');
      if (taken === null) throw new Error('no command');
      const reply: CommandReply = { protocol: [...protocolRange], process: 'rogue', state: 'accepted', reason: null };
      message?.respond(JSON.stringify(reply));
      return taken;
    },
  };
}

export const result = (id: string, outcome: unknown = measured) =>
  JSON.stringify({ protocol: protocolRange, ticket: id, process: 'rogue', outcome });

/** Hands a result in, and resolves with the receipt. */
export async function submit(connection: NatsConnection, name: string, payload: string, timeout = 30_000) {
  const answer = await connection.request(subjectsOf(name).result, payload, { timeout });
  return answer.json<{ state: string; reason: string | null }>();
}
