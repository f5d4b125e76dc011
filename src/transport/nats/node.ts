import type { Msg, NatsConnection, Subscription } from '@nats-io/transport-node';
import { type Clock, deadline, orAbort } from '#kernel/clock.ts';
import { messageOf } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import type { Random } from '#kernel/random.ts';
import type { Spool } from '#node/ports.ts';
import { readJson } from '#kernel/json.ts';
import {
  AbortMessage,
  agree,
  CommandMessage,
  type CommandReply,
  HubGreeting,
  protocolRange,
  ResultReceipt,
  type Report,
  resultFor,
  sharedSubjects,
  subjectsOf,
} from '#protocol/nodes.ts';
import { AssignMessage, watchingSince } from '#protocol/watching.ts';
import type { Transport } from '#service/ports.ts';
import { type Commands, createCommands } from './commands.ts';
import { type Account, connectionTimes, type ConnectionTimes, keepConnected } from './connection.ts';
import { createDelivery, type ReceiptDelivery } from './delivery.ts';
import { listen } from './listen.ts';
import { createNamedHubResults } from './named-hub.ts';
import { isBatch, type RemoteScheduler, watchRemotely } from './remote-watching.ts';
import { createRegistration, type ReportedState, type RegistrationSession } from './registration.ts';

export interface RemoteNodeOptions {
  readonly name: string;
  readonly account: Account;
  /** What runs the checks: the node of this name in this process. */
  readonly local: Transport & { retime(aheadMs: number): void };
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
const spreadOf = (hello: Msg) => readJson(HubGreeting, hello.string())?.spreadMs ?? longestHelloMs;
const goodbyeMs = 3_000;

export function startRemoteNode(options: RemoteNodeOptions): RemoteNode {
  const { name, spool, refusedMs, times = connectionTimes, clock, random, log } = options;
  const subjects = subjectsOf(name);
  const process = random.id(12);
  const { promise: revoked, resolve: revoke } = Promise.withResolvers<string>();
  const receipts = `${subjects.inbox}.${process}`;
  const incoming = createIncoming(log);
  const onRefused = (reason: string, forMs: number) => void (forMs >= refusedMs && revoke(reason));

  let version = 0;
  const delivery = createDelivery({
    spool,
    send(payload) {
      if (version < watchingSince && isBatch(payload)) return false;
      connection.current?.publish(subjects.result, resultFor(version, payload), { reply: receipts });
      return connection.current !== null;
    },
    onAllSent: () => registration.reportIn(0),
    clock,
    log,
  });
  const watching = watchRemotely({ ...options, process, delivery, onChange: () => registration.reportIn(0) });
  const clockOffsetMs = () => registration.clockOffsetMs;
  const namedHub = createNamedHubResults({
    ...options,
    answerMs: times.answerMs,
    connection: () => connection.current,
  });
  const commands = createCommands({ ...options, process, clockOffsetMs, delivery, namedHub });
  const registration = createRegistration({
    name,
    log,
    clock,
    answerMs: times.answerMs,
    connection: () => connection.current,
    state: () => ({ process, ...stateOf(options, delivery, watching) }),
    onWelcome(up, agreed) {
      version = agreed;
      if (version < watchingSince) watching.giveUp();
      watching.measured(registration.clockOffsetMs ?? 0);
      incoming.open(up, subjects.command(process), (message) => {
        message.respond(JSON.stringify(replyTo(message.string(), process, commands, watching)));
      });
      delivery.resume();
    },
    onUnwelcome: () => pause(),
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
      listen(up, subjects.abort, (message) => abort(commands, message.string()), log);
      listen(up, sharedSubjects.hub, hearHub, log);
      registration.reportIn(0);
    },
    onDown() {
      registration.disconnected();
      incoming.forget();
      pause();
    },
    onRefused: (forMs) => onRefused('the NATS server refuses its key', forMs),
  });

  watching.resume();

  // All nodes hear this at the same moment.
  function hearHub(message: Msg): void {
    pause();
    registration.reportIn(random.next() * spreadOf(message));
  }

  // What no hub takes now is kept: nothing is skipped for it.
  function pause(): void {
    delivery.pause();
    watching.granted(1);
  }

  function hearReceipt(message: Msg): void {
    // The server's own answer: results have no subscriber.
    if (message.headers?.code === 503) return registration.hubLost('the hub is not there');
    const receipt = readJson(ResultReceipt, message.string());
    if (receipt === null) return;
    watching.granted(receipt.grant ?? 1);
    delivery.hear(receipt);
  }

  let stopped: Promise<void> | null = null;
  return {
    process,
    get welcome() {
      return incoming.isOpen;
    },
    revoked,
    async stop(graceMs) {
      stopped ??= endAll(
        { registration, incoming, watching, commands, namedHub, delivery, connection },
        options,
        graceMs,
      );
      await stopped;
    },
  };
}

function stateOf(
  { version, local, spool, limit }: RemoteNodeOptions,
  delivery: ReceiptDelivery,
  watching: RemoteScheduler,
): Omit<ReportedState, 'process'> {
  const { dropped } = spool;
  const hubOverload = delivery.skipped + watching.notGranted;
  const skipped = local.nodes()[0]?.losses?.skipped ?? 0;
  return {
    version,
    ...healthOf(local),
    spooled: spool.size,
    unsent: delivery.unsent,
    newestDroppedAt: spool.newestDroppedAt,
    losses: { dropped, refused: delivery.refused, skipped, hub_overload: hubOverload },
    capacity: limit,
    watching: watching.state,
  };
}

interface RemoteNodeParts {
  readonly registration: RegistrationSession;
  readonly incoming: { close(): void };
  readonly watching: RemoteScheduler;
  readonly commands: Commands;
  readonly namedHub: { close(): void };
  readonly delivery: { close(): void };
  readonly connection: { close(): Promise<void> };
}

async function endAll(parts: RemoteNodeParts, options: RemoteNodeOptions, graceMs: number): Promise<void> {
  parts.registration.stop();
  parts.incoming.close();
  parts.watching.stop();
  await parts.commands.drain(graceMs);
  await announceStop(parts.registration, options);
  parts.namedHub.close();
  parts.delivery.close();
  await parts.connection.close();
}

async function announceStop(registration: RegistrationSession, { clock, log }: RemoteNodeOptions): Promise<void> {
  using limit = deadline(clock, goodbyeMs);
  try {
    await orAbort(registration.sayGoodbye(), limit.signal);
  } catch (error) {
    log.warn({ reason: messageOf(error) }, 'the hub did not confirm the shutdown of this node');
  }
}

function healthOf(local: Transport): Pick<Report, 'capabilities' | 'running' | 'queued' | 'lagSeconds'> {
  const [status] = local.nodes();
  const { capabilities = {}, running = 0, queued = 0, lagSeconds = 0 } = status ?? {};
  return { capabilities, running, queued, lagSeconds };
}

function replyTo(text: string, process: string, commands: Commands, watching: RemoteScheduler): CommandReply {
  const command = readJson(CommandMessage, text);
  const part = command === null ? readJson(AssignMessage, text) : null;
  if (part !== null) return watching.take(part);
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

function abort(commands: Commands, text: string): void {
  commands.abort(readJson(AbortMessage, text)?.ticket ?? '');
}
