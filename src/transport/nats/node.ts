import type { Msg, NatsConnection, Subscription } from '@nats-io/transport-node';
import { type Clock, deadline, orAbort, sleepUnlessAborted } from '#kernel/clock.ts';
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
  sharedSubjects,
  subjectsOf,
} from '#protocol/nodes.ts';
import { AssignMessage } from '#protocol/watching.ts';
import type { Transport } from '#service/ports.ts';
import { type Commands, createCommands } from './commands.ts';
import { type Account, connectionTimes, type ConnectionTimes, keepConnected } from './connection.ts';
import type { DirectHub, DirectNode } from './direct-link.ts';
import { listen } from './listen.ts';
import { createNamedHubResults } from './named-hub.ts';
import type { RemoteScheduler } from './remote-watching.ts';
import { createRegistration, type RegistrationSession } from './registration.ts';
import { createNodeDuties } from './node-duties.ts';
import { stateOf } from './node-state.ts';

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
  /** Serves a hub in this process, in place of the one that leads over NATS; commands of other hubs come over NATS all the same. */
  serve(hub: DirectHub): DirectNode;
  /**
   * Takes no more commands, gives running ones `graceMs`, and says goodbye. What has no receipt stays in the spool; for that much longer
   * it is offered to the hub that leads, and to the next one, if `handInMs` says so.
   */
  stop(graceMs: number, handInMs?: number): Promise<void>;
}

const longestHelloMs = 500;
const spreadOf = (hello: Msg) => readJson(HubGreeting, hello.string())?.spreadMs ?? longestHelloMs;
const goodbyeMs = 3_000;
const lookAfterMs = 300;
const lookEveryMs = 50;

export function startRemoteNode(options: RemoteNodeOptions): RemoteNode {
  const { name, refusedMs, times = connectionTimes, clock, random, log } = options;
  const subjects = subjectsOf(name);
  const process = random.id(12);
  const { promise: revoked, resolve: revoke } = Promise.withResolvers<string>();
  const receipts = `${subjects.inbox}.${process}`;
  const incoming = createIncoming(log);
  const onRefused = (reason: string, forMs: number) => void (forMs >= refusedMs && revoke(reason));

  const duties = createNodeDuties({
    ...options,
    process,
    publish(payload) {
      connection.current?.publish(subjects.result, payload, { reply: receipts });
      return connection.current !== null;
    },
    reportIn: (ms) => registration.reportIn(ms),
  });
  const { delivery, watching } = duties;
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
      incoming.open(up, subjects.command(process), (message) => {
        const taking = duties.isDirect || stopped !== null ? null : watching;
        message.respond(JSON.stringify(replyTo(message.string(), process, commands, taking)));
      });
      duties.welcome(agreed, registration.clockOffsetMs ?? 0);
    },
    isNeeded: () => !duties.isDirect,
    onUnwelcome: () => duties.pause(),
    onSilent: () => duties.hold(),
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
      duties.pause();
    },
    onRefused: (forMs) => onRefused('the NATS server refuses its key', forMs),
  });

  watching.resume();

  // All nodes hear this at the same moment.
  function hearHub(message: Msg): void {
    duties.pause();
    registration.reportIn(random.next() * spreadOf(message));
  }

  function hearReceipt(message: Msg): void {
    // The server's own answer: results have no subscriber.
    if (message.headers?.code === 503) return registration.hubLost('the hub is not there');
    const receipt = readJson(ResultReceipt, message.string());
    if (receipt === null) return;
    registration.heard();
    duties.hear(receipt);
  }

  let stopped: Promise<void> | null = null;
  return {
    process,
    get welcome() {
      return incoming.isOpen;
    },
    revoked,
    serve: (hub) => duties.serve(hub),
    async stop(graceMs, handInMs = 0) {
      stopped ??= endAll({ registration, incoming, watching, commands, namedHub, delivery, connection }, options, {
        graceMs,
        handInMs,
      });
      await stopped;
    },
  };
}

interface RemoteNodeParts {
  readonly registration: RegistrationSession;
  readonly incoming: { readonly isOpen: boolean; close(): void };
  readonly watching: RemoteScheduler;
  readonly commands: Commands;
  readonly namedHub: { close(): void };
  readonly delivery: { close(): void };
  readonly connection: { close(): Promise<void> };
}

async function endAll(
  parts: RemoteNodeParts,
  options: RemoteNodeOptions,
  { graceMs, handInMs }: { readonly graceMs: number; readonly handInMs: number },
): Promise<void> {
  if (handInMs > 0 && parts.incoming.isOpen) {
    parts.watching.stop();
    await handIn(options, handInMs);
  }
  parts.registration.stop();
  parts.incoming.close();
  parts.watching.stop();
  await parts.commands.drain(graceMs);
  await announceStop(parts.registration, options);
  parts.namedHub.close();
  parts.delivery.close();
  await parts.connection.close();
}

// What runs has to end first, and then its results have to come here.
async function handIn({ spool, clock }: RemoteNodeOptions, ms: number): Promise<void> {
  using limit = deadline(clock, ms);
  await sleepUnlessAborted(clock, lookAfterMs, limit.signal);
  while (spool.size > 0 && !limit.signal.aborted) await sleepUnlessAborted(clock, lookEveryMs, limit.signal);
}

async function announceStop(registration: RegistrationSession, { clock, log }: RemoteNodeOptions): Promise<void> {
  using limit = deadline(clock, goodbyeMs);
  try {
    await orAbort(registration.sayGoodbye(), limit.signal);
  } catch (error) {
    log.warn({ reason: messageOf(error) }, 'the hub did not confirm the shutdown of this node');
  }
}

function replyTo(
  text: string,
  process: string,
  commands: Commands,
  watching: Pick<RemoteScheduler, 'take'> | null,
): CommandReply {
  const command = readJson(CommandMessage, text);
  const part = command === null ? readJson(AssignMessage, text) : null;
  const no = (reason: string): CommandReply => {
    return { protocol: [...protocolRange], process, state: 'unsupported', reason };
  };
  if (part !== null) return watching?.take(part) ?? no('this node is stopping, or serves the hub of its own process');
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
