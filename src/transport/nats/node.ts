import { errors, type Msg, type NatsConnection, type Subscription } from '@nats-io/transport-node';
import { type Clock, deadline, orAbort } from '#kernel/clock.ts';
import { messageOf } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import type { Random } from '#kernel/random.ts';
import type { Spool } from '#node/ports.ts';
import {
  Abort,
  agree,
  type Answer,
  Command,
  protocolRange,
  readMessage,
  Receipt,
  type Report,
  reportEveryMs,
  sharedSubjects,
  subjectsOf,
  Welcome,
} from '#protocol/nodes.ts';
import type { Transport } from '#service/ports.ts';
import { createCommands } from './commands.ts';
import { type Account, connectionTimes, type ConnectionTimes, keepConnected } from './connection.ts';
import { createDelivery } from './delivery.ts';

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
  const { name, local, spool, times = connectionTimes, clock, random, log } = options;
  const subjects = subjectsOf(name);
  const process = random.id(12);
  const { promise: revoked, resolve: revoke } = Promise.withResolvers<string>();
  const receipts = `${subjects.inbox}.${process}`;
  let commandsOpen: Subscription | null = null;
  let measured: Pick<Report, 'clockOffsetMs' | 'roundTripMs'> = { clockOffsetMs: null, roundTripMs: null };
  let told: string | null = null;
  let strangerSince: number | null = null;
  let stopping = false;
  let stopped: Promise<void> | null = null;
  let nextReport: Disposable | null = null;

  const delivery = createDelivery({
    spool,
    send(payload) {
      connection.current?.publish(subjects.result, payload, { reply: receipts });
      return connection.current !== null;
    },
    clock,
    log,
  });
  const commands = createCommands({ name, process, local, delivery, limit: options.limit, clock, log });

  const connection = keepConnected({
    account: options.account,
    times,
    clock,
    random,
    log,
    onUp(up) {
      listen(up, receipts, hearReceipt);
      listen(up, subjects.abort, (message) => {
        const abort = readMessage(Abort, message.string());
        if (abort !== null) commands.abort(abort.ticket);
      });
      // All nodes hear this at the same moment.
      listen(up, sharedSubjects.hub, () => {
        delivery.pause();
        reportIn(random.next() * longestHelloMs);
      });
      reportIn(0);
    },
    onDown() {
      commandsOpen = null;
      delivery.pause();
    },
    onRefused: (forMs) => refused('the NATS server refuses its key', forMs),
  });

  function listen(up: NatsConnection, subject: string, act: (message: Msg) => void): Subscription {
    return up.subscribe(subject, {
      callback(error, message) {
        if (error === null) act(message);
        else log.error({ err: error, subject }, 'NATS subscription ended');
      },
    });
  }

  function hearReceipt(message: Msg): void {
    // The server's own answer: nobody listens for results.
    if (message.headers?.code === 503) return hubLost('the hub is not there');
    const receipt = readMessage(Receipt, message.string());
    if (receipt !== null) delivery.hear(receipt);
  }

  function refused(reason: string, forMs: number): void {
    if (forMs >= options.refusedMs) revoke(reason);
  }

  function hubLost(reason: string): void {
    delivery.pause();
    if (told !== reason) log.warn({ reason }, 'no hub takes results; they are kept');
    told = reason;
  }

  function reportIn(ms: number): void {
    if (stopping) return;
    nextReport?.[Symbol.dispose]();
    nextReport = clock.after(ms, () => {
      void report(commandsOpen === null ? 'joining' : 'serving').finally(() => reportIn(reportEveryMs));
    });
  }

  async function report(phase: Report['phase']): Promise<void> {
    const up = connection.current;
    if (up === null) return;
    const [state] = local.nodes();
    const sentAt = clock.elapsed();
    const content: Report = {
      protocol: [...protocolRange],
      process,
      version: options.version,
      capabilities: state?.capabilities ?? {},
      running: state?.running ?? 0,
      queued: state?.queued ?? 0,
      lagSeconds: state?.lagSeconds ?? 0,
      spooled: spool.size,
      ...measured,
      phase,
    };
    try {
      const message = await up.request(subjects.report, JSON.stringify(content), { timeout: times.answerMs });
      const answer = readMessage(Welcome, message.string());
      if (answer === null) return hubLost('the hub speaks in a way that this node does not know');
      const tookMs = clock.elapsed() - sentAt;
      measured = { clockOffsetMs: clock.now() - tookMs / 2 - answer.now, roundTripMs: tookMs };
      enter(up, answer);
      // Only now may the hub send commands.
      if (phase === 'joining' && commandsOpen !== null) await report('serving');
    } catch (error) {
      if (up !== connection.current) return;
      hubLost(`the hub does not answer: ${messageOf(error)}`);
      if (isDenied(error)) notWanted('the NATS server does not let this key use this name');
    }
  }

  function enter(up: NatsConnection, { state, reason, protocol }: Welcome): void {
    if (state === 'welcome' && typeof agree(protocolRange, protocol) !== 'string') {
      if (told !== null || commandsOpen === null) log.info('the hub takes this node');
      told = null;
      strangerSince = null;
      if (stopping || up !== connection.current) return;
      commandsOpen ??= listen(up, subjects.command(process), hearCommand);
      delivery.resume();
      return;
    }
    commandsOpen?.unsubscribe();
    commandsOpen = null;
    hubLost(`the hub does not use this node: ${reason ?? state}`);
    if (state !== 'stranger') return;
    notWanted(reason ?? state);
  }

  function notWanted(reason: string): void {
    refused(reason, clock.elapsed() - (strangerSince ??= clock.elapsed()));
  }

  function hearCommand(message: Msg): void {
    const command = readMessage(Command, message.string());
    message.respond(JSON.stringify(answerTo(command)));
  }

  function answerTo(command: Command | null): Answer {
    const no = (reason: string): Answer => ({ protocol: [...protocolRange], process, state: 'unsupported', reason });
    if (command === null) return no('this node cannot read the command');
    const agreed = agree(protocolRange, command.protocol);
    return typeof agreed === 'string' ? no(`the hub is ${agreed}`) : commands.take(command);
  }

  async function end(graceMs: number): Promise<void> {
    stopping = true;
    nextReport?.[Symbol.dispose]();
    commandsOpen?.unsubscribe();
    commandsOpen = null;
    await commands.drain(graceMs);
    using limit = deadline(clock, goodbyeMs);
    try {
      await orAbort(sayGoodbye(), limit.signal);
    } catch (error) {
      log.warn({ reason: messageOf(error) }, 'the hub did not hear that the node ends');
    }
    delivery.close();
    await connection.close();
  }

  async function sayGoodbye(): Promise<void> {
    await report('leaving');
    await connection.current?.flush();
  }

  return {
    process,
    get welcome() {
      return commandsOpen !== null;
    },
    revoked,
    async stop(graceMs) {
      stopped ??= end(graceMs);
      await stopped;
    },
  };
}

function isDenied(error: unknown): boolean {
  if (error instanceof errors.PermissionViolationError) return true;
  return error instanceof Error && error.cause instanceof errors.PermissionViolationError;
}
