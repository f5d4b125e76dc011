import { open, rm } from 'node:fs/promises';
import type { Msg, NatsConnection } from '@nats-io/transport-node';
import { z } from 'zod';
import type { Clock } from '#kernel/clock.ts';
import { messageOf } from '#kernel/errors.ts';
import { readJson } from '#kernel/json.ts';
import type { Log } from '#kernel/log.ts';
import {
  type AnswerTimes,
  type ForwardedAnswer,
  ForwardedRequest,
  partBytes,
  requestAnswer,
  sendAnswer,
} from './answers.ts';
import { runTag } from './run-tag.ts';
import { logSubject } from './session.ts';

// What hubs ask each other, besides the log. The server permits these subjects to holders of a hub's key only.

const root = 'wp.v1.hubs';
const subjects = {
  /** Asks every hub how it is. */
  status: `${root}.status`,
  /** The lease was handed over. */
  released: `${root}.released`,
  forward: (hub: string) => `${root}.forward.${hub}`,
  snapshot: (hub: string) => `${root}.snapshot.${hub}`,
  yield: (hub: string) => `${root}.yield.${hub}`,
  late: (hub: string) => `${root}.late.${hub}`,
  /** Asks the hub with this tag about a check that it keeps. */
  check: (tag: string) => `${root}.check.${tag}`,
  /** What a hub has granted to callers of its check service. */
  granted: `${root}.granted`,
};

/** How a hub is. Times are milliseconds since the epoch. */
export const HubStatus = z.object({
  name: z.string(),
  version: z.string(),
  role: z.enum(['follower', 'leader', 'alone']),
  since: z.number(),
  epoch: z.number(),
  leader: z.string().nullable(),
  applied: z.object({ sequence: z.number(), epoch: z.number(), n: z.number() }),
  /** Equal if the configurations say the same about what is watched and who is notified. */
  fingerprint: z.string(),
  trouble: z.string().nullable(),
});
export type HubStatus = z.output<typeof HubStatus>;

export interface PeerPorts {
  readonly name: string;
  readonly status: () => HubStatus;
  /** Looks at the log; with `true` at the lease too. */
  readonly wake: (isLease: boolean) => void;
  /** Answers as the hub that leads. */
  readonly answer: (request: ForwardedRequest) => Promise<ForwardedAnswer>;
  /** Answers about a check that this hub keeps. */
  readonly answerCheck: (request: ForwardedRequest) => Promise<ForwardedAnswer>;
  /** Takes what another hub has granted to callers of its check service. */
  readonly takeGrants: (grants: readonly unknown[]) => void;
  readonly handOver: () => Promise<void>;
  /** Stores what a hub saw that was alone while another one led. */
  readonly takeLate: (votes: readonly unknown[]) => Promise<void>;
  /** Copies the database to a new file. */
  readonly copyTo: (path: string) => Promise<void>;
  /** Where copies may lie. */
  readonly copyPath: string;
  readonly clock: Clock;
  readonly log: Log;
}

const Grants = z.object({ hub: z.string(), grants: z.array(z.unknown()) });
const Part = z.object({ offset: z.int().min(0) });
const copyHeldMs = 60_000;

/** Answers other hubs for as long as the connection lasts. */
export function servePeers(connection: NatsConnection, ports: PeerPorts): void {
  const { name, log } = ports;
  const copy = createCopy(ports);
  const answer = async (act: (message: Msg) => Promise<void> | void, message: Msg): Promise<void> => {
    try {
      await act(message);
    } catch (failure) {
      log.warn({ reason: messageOf(failure), subject: message.subject }, 'cannot answer another hub');
    }
  };
  const on = (subject: string, act: (message: Msg) => Promise<void> | void) =>
    connection.subscribe(subject, {
      callback(error, message) {
        if (error !== null) return log.error({ err: error, subject }, 'NATS subscription ended');
        void answer(act, message);
      },
    });
  on(logSubject, () => ports.wake(false));
  on(subjects.released, () => ports.wake(true));
  on(subjects.status, (message) => void message.respond(JSON.stringify(ports.status())));
  on(subjects.yield(name), async (message) => {
    await ports.handOver();
    message.respond(JSON.stringify(ports.status()));
  });
  on(subjects.forward(name), async (message) => {
    const request = readJson(ForwardedRequest, message.string());
    if (request !== null) await sendAnswer(message, await ports.answer(request));
  });
  on(subjects.check(runTag(name)), async (message) => {
    const request = readJson(ForwardedRequest, message.string());
    if (request !== null) await sendAnswer(message, await ports.answerCheck(request));
  });
  on(subjects.granted, (message) => {
    const granted = readJson(Grants, message.string());
    if (granted !== null && granted.hub !== name) ports.takeGrants(granted.grants);
  });
  on(subjects.late(name), async (message) => {
    const votes = readJson(z.array(z.unknown()), message.string());
    if (votes === null) return;
    await ports.takeLate(votes);
    message.respond('');
  });
  on(subjects.snapshot(name), async (message) => {
    const part = readJson(Part, message.string());
    if (part !== null) message.respond(await copy.read(part.offset));
  });
}

// The copy that another hub fetches, part after part. A part of no bytes is the end.
function createCopy({ copyTo, copyPath, clock, log }: PeerPorts) {
  let making: Promise<void> | null = null;
  let timer: Disposable | null = null;

  const drop = () => {
    making = null;
    rm(copyPath, { force: true }).catch((error: unknown) =>
      log.warn({ reason: messageOf(error) }, 'cannot delete a copy'),
    );
  };

  return {
    async read(offset: number): Promise<Uint8Array> {
      timer?.[Symbol.dispose]();
      if (offset === 0) {
        making = null;
        await rm(copyPath, { force: true });
      }
      making ??= copyTo(copyPath);
      await making;
      timer = clock.after(copyHeldMs, drop);
      const file = await open(copyPath);
      try {
        const { bytesRead, buffer } = await file.read(Buffer.alloc(partBytes), 0, partBytes, offset);
        return buffer.subarray(0, bytesRead);
      } finally {
        await file.close();
      }
    },
  };
}

const statusWaitMs = 1_000;
const forwardMs = 20_000;
const handOverMs = 20_000;
// The first part comes when the whole copy is made.
const partMs = 120_000;

/** Asks all hubs how they are: gives those that answer within a second. */
export async function askHubs(connection: NatsConnection): Promise<readonly HubStatus[]> {
  const found: HubStatus[] = [];
  const answers = await connection.requestMany(subjects.status, '', { strategy: 'timer', maxWait: statusWaitMs });
  for await (const message of answers) {
    if (message instanceof Error) continue;
    const status = readJson(HubStatus, message.string());
    if (status !== null) found.push(status);
  }
  return found.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** Has a hub answer a request. Rejects if it does not. */
export async function forwardTo(
  connection: NatsConnection,
  hub: string,
  request: ForwardedRequest,
  clock: Clock,
): Promise<ForwardedAnswer> {
  const times = { headMs: forwardMs, wholeMs: forwardMs };
  const answer = await requestAnswer(connection, subjects.forward(hub), request, times, clock);
  if (answer === null) throw new Error(`hub ${hub} is not there`);
  return answer;
}

/** Has the hub with this tag answer about a check that it keeps; null if there is no such hub now. Rejects if it does not in time. */
export async function askAboutCheck(
  connection: NatsConnection,
  tag: string,
  request: ForwardedRequest,
  times: AnswerTimes,
  clock: Clock,
): Promise<ForwardedAnswer | null> {
  return requestAnswer(connection, subjects.check(tag), request, times, clock);
}

/** Lets the other hubs know what this one has granted. */
export function announceGrants(connection: NatsConnection, hub: string, grants: readonly unknown[]): void {
  connection.publish(subjects.granted, JSON.stringify({ hub, grants }));
}

/** Tells all hubs that the lease was handed over. */
export function announceRelease(connection: NatsConnection): void {
  connection.publish(subjects.released);
}

/** Has the leader hand over. Rejects if it does not answer. */
export async function askToYield(connection: NatsConnection, hub: string): Promise<void> {
  await connection.request(subjects.yield(hub), '', { timeout: handOverMs });
}

/** Hands late votes to the hub that leads. Rejects unless it has stored them. */
export async function sendLate(connection: NatsConnection, hub: string, votes: readonly unknown[]): Promise<void> {
  await connection.request(subjects.late(hub), JSON.stringify(votes), { timeout: forwardMs });
}

/** Copies the database of a hub to a file here. */
export async function fetchSnapshot(
  connection: NatsConnection,
  hub: string,
  path: string,
  signal: AbortSignal,
): Promise<void> {
  await using file = await open(path, 'w', 0o600);
  for (let offset = 0; ;) {
    signal.throwIfAborted();
    const message = await connection.request(subjects.snapshot(hub), JSON.stringify({ offset }), { timeout: partMs });
    if (message.data.length === 0) break;
    await file.write(message.data, 0, message.data.length, offset);
    offset += message.data.length;
  }
  await file.sync();
}
