import type { Msg, NatsConnection, Subscription } from '@nats-io/transport-node';
import { type Clock, deadline, orAbort } from '#kernel/clock.ts';
import { messageOf } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import type { Random } from '#kernel/random.ts';
import type { Spool } from '#node/ports.ts';
import {
  Abort,
  agree,
  Command,
  type CommandReply,
  protocolRange,
  readMessage,
  Receipt,
  sharedSubjects,
  subjectsOf,
} from '#protocol/nodes.ts';
import type { Transport } from '#service/ports.ts';
import { type Commands, createCommands } from './commands.ts';
import { type Account, connectionTimes, type ConnectionTimes, keepConnected } from './connection.ts';
import { createDelivery } from './delivery.ts';
import { listen } from './listen.ts';
import { createRegistration, type Registration } from './registration.ts';

export interface RemoteNodeOptions {
  readonly name: string;
  readonly account: Account;
  /** What runs the checks: the node of this name in this process. */
  readonly local: Transport;
  readonly spool: Spool;
  /** How many commands may be under way. */
  readonly limit: number;
  readonly version: string;
  /** For how long the server may refuse the key before the node takes itself for revoked. */
  readonly refusedMs: number;
  readonly times?: ConnectionTimes;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** A node that serves a hub through NATS. */
export interface RemoteNode {
  /** The name that this process made up. */
  readonly process: string;
  /** True while the hub has it on its list of nodes to use. */
  readonly welcome: boolean;
  /** Resolves with the reason once the node has been refused for too long. It keeps trying until it is stopped. */
  readonly revoked: Promise<string>;
  /** Takes no more commands, gives running ones `graceMs`, and says goodbye. What has no receipt stays in the spool. */
  stop(graceMs: number): Promise<void>;
}

const longestHelloMs = 500;
const goodbyeMs = 3_000;

export function startRemoteNode(options: RemoteNodeOptions): RemoteNode {
  const { name, local, spool, limit, version, refusedMs, times = connectionTimes, clock, random, log } = options;
  const subjects = subjectsOf(name);
  const process = random.id(12);
  const { promise: revoked, resolve: revoke } = Promise.withResolvers<string>();
  const receipts = `${subjects.inbox}.${process}`;
  const incoming = createIncoming(log);
  const onRefused = (reason: string, forMs: number) => {
    if (forMs >= refusedMs) revoke(reason);
  };

  const delivery = createDelivery({
    spool,
    send(payload) {
      connection.current?.publish(subjects.result, payload, { reply: receipts });
      return connection.current !== null;
    },
    clock,
    log,
  });
  const clockOffsetMs = () => registration.clockOffsetMs;
  const commands = createCommands({ name, process, local, clockOffsetMs, delivery, limit, clock, log });
  const registration = createRegistration({
    name,
    log,
    clock,
    answerMs: times.answerMs,
    connection: () => connection.current,
    state() {
      const [status] = local.nodes();
      const { capabilities = {}, running = 0, queued = 0, lagSeconds = 0 } = status ?? {};
      return { process, version, capabilities, running, queued, lagSeconds, spooled: spool.size, capacity: limit };
    },
    onWelcome(up) {
      incoming.open(up, subjects.command(process), (message) => {
        message.respond(JSON.stringify(replyTo(readMessage(Command, message.string()), process, commands)));
      });
      delivery.resume();
    },
    onUnwelcome: () => delivery.pause(),
    onClosed: () => incoming.close(),
    onRefused,
  });

  const connection = keepConnected({
    account: options.account,
    times,
    clock,
    random,
    log,
    onUp(up) {
      listen(up, receipts, hearReceipt, log);
      listen(up, subjects.abort, (message) => commands.abort(readMessage(Abort, message.string())?.ticket ?? ''), log);
      // All nodes hear this at the same moment.
      const hearHub = () => {
        delivery.pause();
        registration.reportIn(random.next() * longestHelloMs);
      };
      listen(up, sharedSubjects.hub, hearHub, log);
      registration.reportIn(0);
    },
    onDown() {
      registration.disconnected();
      incoming.forget();
      delivery.pause();
    },
    onRefused: (forMs) => onRefused('the NATS server refuses its key', forMs),
  });

  function hearReceipt(message: Msg): void {
    // The server's own answer: nobody listens for results.
    if (message.headers?.code === 503) return registration.hubLost('the hub is not there');
    const receipt = readMessage(Receipt, message.string());
    if (receipt !== null) delivery.hear(receipt);
  }

  async function end(graceMs: number): Promise<void> {
    registration.stop();
    incoming.close();
    await commands.drain(graceMs);
    await sayGoodbye(registration, options);
    delivery.close();
    await connection.close();
  }

  let stopped: Promise<void> | null = null;
  return {
    process,
    get welcome() {
      return incoming.isOpen;
    },
    revoked,
    async stop(graceMs) {
      stopped ??= end(graceMs);
      await stopped;
    },
  };
}

async function sayGoodbye(registration: Registration, { clock, log }: RemoteNodeOptions): Promise<void> {
  using limit = deadline(clock, goodbyeMs);
  try {
    await orAbort(registration.sayGoodbye(), limit.signal);
  } catch (error) {
    log.warn({ reason: messageOf(error) }, 'the hub did not hear that the node ends');
  }
}

function replyTo(command: Command | null, process: string, commands: Commands): CommandReply {
  const no = (reason: string): CommandReply => {
    return { protocol: [...protocolRange], process, state: 'unsupported', reason };
  };
  if (command === null) return no('this node cannot read the command');
  const agreed = agree(protocolRange, command.protocol);
  return typeof agreed === 'string' ? no(`the hub is ${agreed}`) : commands.take(command);
}

/** Whether the node hears commands. */
function createIncoming(log: Log) {
  let subscription: Subscription | null = null;
  return {
    get isOpen() {
      return subscription !== null;
    },
    open(up: NatsConnection, subject: string, act: (message: Msg) => void) {
      subscription ??= listen(up, subject, act, log);
    },
    close() {
      subscription?.unsubscribe();
      subscription = null;
    },
    /** It ended with its connection. */
    forget() {
      subscription = null;
    },
  };
}
