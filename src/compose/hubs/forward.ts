import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { messageOf } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import { errorBody } from '#protocol/errors.ts';
import type { ForwardedAnswer, ForwardedRequest } from '#hubs/peers.ts';
import type { WebOptions } from '#web/server.ts';

type Front = NonNullable<WebOptions['front']>;
type Listener = Parameters<Front>[1];

export interface ForwardingPorts {
  /** Whether this hub leads; null if it does not and no other is known to. */
  readonly leader: () => 'here' | { forward(request: ForwardedRequest): Promise<ForwardedAnswer> } | null;
  /** Resolves when what a request changed is in the log. */
  readonly stored: () => Promise<void>;
  readonly log: Log;
}

const mostBytes = 65_536;
const retryAfterSeconds = 5;

// What only the hub that leads knows. Everything else is read from the own history.
const ofLeader = /^\/(-\/(?!states\b)|beat\/|acknowledge\/|nodes\b|check\b|check-|api\/v1\/(checks|nodes|limits)\b)/;
// Each hub knows a session of the others.
const ofEachHub = /^\/(login|logout)\b/;
// Checks for others are in no log.
const outsideLog = /^\/(check-|api\/v1\/checks\b)/;

const isRead = (method: string) => ['GET', 'HEAD', 'OPTIONS'].includes(method);

/** Has the leader answer what only it can, and lets it answer once its log has what changed. */
export function createForwarding({ leader, stored, log }: ForwardingPorts) {
  const apps = new Map<Listener, FastifyInstance>();

  async function forward(listener: Listener, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    const to = leader();
    if (to === 'here' || to === null) return unavailable(reply, 'no hub leads at the moment');
    const body = await bodyOf(request);
    if (body === null) return reply.code(413).send(errorBody('too_large', `a body has at most ${mostBytes} bytes`));
    try {
      const answer = await to.forward({
        listener,
        method: request.method,
        url: request.url,
        headers: headersOf(request.headers),
        body: body.toString('base64'),
        remoteAddress: request.socket.remoteAddress ?? '',
      });
      reply.code(answer.status).headers(headersOf(answer.headers));
      return await reply.send(Buffer.from(answer.body, 'base64'));
    } catch (error) {
      log.warn({ reason: messageOf(error), url: request.routeOptions.url }, 'the hub that leads does not answer');
      return unavailable(reply, 'the hub that leads does not answer');
    }
  }

  const front: Front = (app, listener) => {
    apps.set(listener, app);
    app.addHook('onRequest', async (request, reply) => {
      const { method, url } = request;
      if (leader() === 'here' || ofEachHub.test(url) || (isRead(method) && !ofLeader.test(url))) return;
      await forward(listener, request, reply);
      return reply;
    });
    app.addHook('onSend', async ({ method, url }, reply, payload) => {
      const mayChange = !isRead(method) || url.startsWith('/beat/');
      if (!mayChange || leader() !== 'here' || outsideLog.test(url) || ofEachHub.test(url)) return payload;
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
    /** Answers for another hub. */
    async answer({ listener, method, url, headers, body, remoteAddress }: ForwardedRequest): Promise<ForwardedAnswer> {
      const app = apps.get(listener) ?? apps.get('http.listen');
      if (app === undefined || leader() !== 'here')
        return { status: 503, headers: { 'retry-after': String(retryAfterSeconds) }, body: '' };
      const answer = await app.inject({
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- another hub took it from a request
        method: method as 'GET',
        url,
        headers: headersOf(headers),
        payload: Buffer.from(body, 'base64'),
        remoteAddress,
      });
      return {
        status: answer.statusCode,
        headers: headersOf(answer.headers),
        body: answer.rawPayload.toString('base64'),
      };
    },
  };
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
