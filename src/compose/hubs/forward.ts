import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { NatsConnection } from '@nats-io/transport-node';
import type { HubParts } from '#compose/hubs/parts.ts';
import { messageOf } from '#kernel/errors.ts';
import type { Clock } from '#kernel/clock.ts';
import type { Log } from '#kernel/log.ts';
import { errorBody } from '#protocol/errors.ts';
import type { AnswerTimes, ForwardedAnswer, ForwardedRequest } from '#hubs/answers.ts';
import { forwardTo } from '#hubs/peers.ts';
import { tagOfPath } from '#hubs/run-tag.ts';
import type { WebOptions } from '#web/server.ts';

type Front = NonNullable<WebOptions['front']>;
type Listener = Parameters<Front>[1];

export interface ForwardingPorts {
  /** Whether this hub leads; null if it does not and no other is known to. */
  readonly leader: () => 'here' | { forward(request: ForwardedRequest): Promise<ForwardedAnswer> } | null;
  /**
   * The hub with this tag, which keeps a check: null if it is this one, or none that is known. It answers within a time, or with null
   * if it is not there.
   */
  readonly keeper: (tag: string) => CheckKeeper | null;
  /** Resolves when what a request changed is in the log. */
  readonly stored: () => Promise<void>;
  readonly log: Log;
}

/** A hub that keeps checks of callers. */
export interface CheckKeeper {
  /** Whether a hub with this tag was here lately. */
  isKnown(): boolean;
  ask(request: ForwardedRequest, times: AnswerTimes): Promise<ForwardedAnswer | null>;
}

const keeperSilent = 'the hub that has this check does not answer';
const mostBytes = 65_536;
const retryAfterSeconds = 5;

// What only the hub that leads knows. Everything else is read from the own history.
const ofLeader = /^\/(-\/(?!states\b)|beat\/|acknowledge\/|nodes\b)/;
// Each hub knows a session of the others.
const ofEachHub = /^\/(login|logout)\b/;
// Each hub has checks of its own for callers, and they are in no log.
const ofCheckService = /^\/(check-|nodes\/(hosts|ips)\b|api\/v1\/(checks|nodes|limits)\b)/;
// Longer than the wait that a caller may ask for, and than a stream of events of most checks.
const answerMs = 5_000;
const longestWaitMs = 25_000;
const eventsMs = 120_000;

const isRead = (method: string) => ['GET', 'HEAD', 'OPTIONS'].includes(method);

/** What answers for the hub that leads; null if none is known to. */
export function leaderFor(
  parts: Pick<HubParts, 'member' | 'monitoring'> | null,
  hub: string,
  connection: NatsConnection | null,
  clock: Clock,
): ReturnType<ForwardingPorts['leader']> {
  const { role, leader } = parts?.member.status() ?? { role: 'follower', leader: null };
  if (role !== 'follower') return parts?.monitoring === null ? null : 'here';
  if (leader === null || leader === hub || connection === null) return null;
  return { forward: async (request) => forwardTo(connection, leader, request, clock) };
}

/** Has the leader answer what only it can, and lets it answer once its log has what changed. */
export function createForwarding({ leader, keeper, stored, log }: ForwardingPorts) {
  const apps = new Map<Listener, FastifyInstance>();

  async function forward(listener: Listener, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    const to = leader();
    if (to === 'here' || to === null) return unavailable(reply, 'no hub leads at the moment');
    const body = await bodyOf(request);
    if (body === null) return reply.code(413).send(errorBody('too_large', `a body has at most ${mostBytes} bytes`));
    try {
      return await sendOn(reply, await to.forward(forwardedOf(listener, request, body)));
    } catch (error) {
      log.warn({ reason: messageOf(error), url: request.routeOptions.url }, 'the hub that leads does not answer');
      return unavailable(reply, 'the hub that leads does not answer');
    }
  }

  // False if this hub has to answer.
  async function forwardToKeeper(listener: Listener, request: FastifyRequest, reply: FastifyReply): Promise<boolean> {
    const tag = tagOfPath(request.url);
    const to = tag === null ? null : keeper(tag);
    if (to === null) return false;
    try {
      // Its path says everything.
      const answer = await to.ask(forwardedOf(listener, request, Buffer.alloc(0)), timesOf(request.url));
      // Nothing is known of it here either, and that is what this hub says.
      if (answer === null && !to.isKnown()) return false;
      await (answer === null ? unavailable(reply, keeperSilent) : sendOn(reply, answer));
    } catch (error) {
      log.warn({ reason: messageOf(error), url: request.routeOptions.url }, keeperSilent);
      await unavailable(reply, keeperSilent);
    }
    return true;
  }

  const front: Front = (app, listener) => {
    apps.set(listener, app);
    app.addHook('onRequest', async (request, reply) => {
      const { method, url } = request;
      if (ofCheckService.test(url)) return (await forwardToKeeper(listener, request, reply)) ? reply : undefined;
      if (leader() === 'here' || ofEachHub.test(url) || (isRead(method) && !ofLeader.test(url))) return;
      await forward(listener, request, reply);
      return reply;
    });
    app.addHook('onSend', async ({ method, url }, reply, payload) => {
      const mayChange = !isRead(method) || url.startsWith('/beat/');
      if (!mayChange || leader() !== 'here' || ofCheckService.test(url) || ofEachHub.test(url)) return payload;
      if (reply.statusCode >= 400) return payload;
      try {
        await stored();
        return payload;
      } catch {
        // The log of the store says why.
        reply.code(503).header('retry-after', retryAfterSeconds).removeHeader('content-length');
        return JSON.stringify(errorBody('unavailable', 'this could not be written to the log of the hubs'));
      }
    });
  };

  return {
    front,
    /** Answers for other hubs: as the one that leads, and about a check that this one keeps. */
    answers: {
      answer: async (request: ForwardedRequest) => (leader() === 'here' ? answerHere(request) : notReady()),
      answerCheck: async (request: ForwardedRequest) =>
        ofCheckService.test(request.url) ? answerHere(request) : notReady(),
    },
  };

  async function answerHere(request: ForwardedRequest): Promise<ForwardedAnswer> {
    const { listener, method, url, headers, body, remoteAddress } = request;
    const app = apps.get(listener) ?? apps.get('http.listen');
    if (app === undefined) return notReady();
    const answer = await app.inject({
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- another hub took it from a request
      method: method as 'GET',
      url,
      headers: headersOf(headers),
      payload: Buffer.from(body, 'base64'),
      remoteAddress,
      // Events come one by one.
      payloadAsStream: true,
    });
    return { status: answer.statusCode, headers: headersOf(answer.headers), body: answer.stream() };
  }
}

function notReady(): ForwardedAnswer {
  return { status: 503, headers: { 'retry-after': String(retryAfterSeconds) }, body: Readable.from([]) };
}

function forwardedOf(listener: Listener, request: FastifyRequest, body: Buffer): ForwardedRequest {
  const { method, url, headers, socket } = request;
  const remoteAddress = socket.remoteAddress ?? '';
  return { listener, method, url, headers: headersOf(headers), body: body.toString('base64'), remoteAddress };
}

function sendOn(reply: FastifyReply, { status, headers, body }: ForwardedAnswer): FastifyReply {
  return reply.code(status).headers(headersOf(headers)).send(Readable.from(body));
}

// What the caller lets it wait for comes on top.
function timesOf(url: string): AnswerTimes {
  if (/\/events(\?|$)/.test(url)) return { headMs: answerMs, wholeMs: eventsMs };
  const seconds = Number(new URLSearchParams(url.split('?')[1]).get('wait') ?? 0);
  const headMs = answerMs + (seconds > 0 ? Math.min(seconds * 1_000, longestWaitMs) : 0);
  return { headMs, wholeMs: headMs + answerMs };
}

function unavailable(reply: FastifyReply, reason: string): FastifyReply {
  const body = errorBody('unavailable', `${reason}; try again in a moment`);
  return reply.code(503).header('retry-after', retryAfterSeconds).send(body);
}

// Those that are about one connection.
const ofConnection = new Set(['connection', 'content-length', 'keep-alive', 'transfer-encoding', 'upgrade']);

function headersOf(headers: Readonly<Record<string, unknown>>): Record<string, string | string[]> {
  const kept: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (ofConnection.has(name.toLowerCase())) continue;
    if (typeof value === 'string' || typeof value === 'number') kept[name] = String(value);
    else if (Array.isArray(value)) kept[name] = value.map(String);
  }
  return kept;
}

// Null if it is too long.
async function bodyOf({ raw }: FastifyRequest): Promise<Buffer | null> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of raw) {
    const data = Buffer.from(part);
    bytes += data.length;
    if (bytes > mostBytes) return null;
    parts.push(data);
  }
  return Buffer.concat(parts);
}
