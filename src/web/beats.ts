import { timingSafeEqual } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { createBuckets } from '#kernel/buckets.ts';
import type { Clock } from '#kernel/clock.ts';
import { sha256 } from '#kernel/hash.ts';
import type { Log } from '#kernel/log.ts';
import { networkOf } from '#kernel/network.ts';
import { singleLine } from '#kernel/text.ts';

/** A call of a job, as it came. */
export interface JobPing {
  readonly at: number;
  readonly kind: 'start' | 'success' | 'failure';
  readonly run: string | null;
  readonly exitCode: number | null;
  readonly log: readonly string[];
}

export interface BeatRoutes {
  /** The targets whose secrets have hashes that begin like this, with these. */
  ownersOf(prefix: string): readonly { readonly target: string; readonly hash: string }[];
  /** Resolves to whether it is stored for good. */
  hear(target: string, beat: JobPing): Promise<boolean>;
  /** Told what became of each call: what it said, or why it was refused. */
  readonly onAnswered: (outcome: JobPing['kind'] | BeatRefusal) => void;
  readonly clock: Clock;
  readonly log: Log;
}

/** Why a call was not heard. */
type BeatRefusal = 'unknown_secret' | 'too_many' | 'malformed' | 'not_stored';

/** So many digits of a hash are looked up; all of them are compared. */
export const prefixLength = 8;
const retryAfterSeconds = 5;
const perTarget = { count: 300, perMs: 60_000 };
const perStranger = { count: 30, perMs: 60_000 };
const tailBytes = 16_384;
// What a job sends is read so far; the rest of a longer log is not worth a connection.
const mostBytes = 65_536;
const longestBodyMs = 10_000;
const mostLines = 10;
const runPattern = /^[A-Za-z0-9_.:-]{1,64}$/;

interface BeatRoute {
  Params: { secret: string; what?: string };
  Querystring: { rid?: unknown };
}

/**
 * Where jobs call: `/beat/<secret>` and below it. A call is answered once it is stored; one that cannot be is to come again. An
 * unknown secret is a path that does not exist.
 */
export function beatRoutes(routes: BeatRoutes): FastifyPluginAsync {
  const { onAnswered, clock, log } = routes;
  const targets = createBuckets(perTarget, clock);
  const strangers = createBuckets(perStranger, clock);

  // The time of a comparison does not depend on how much of the hash is right.
  function ownerOf(secret: string): string | null {
    const hash = sha256(secret);
    const found = routes
      .ownersOf(hash.slice(0, prefixLength))
      .find((one) => timingSafeEqual(Buffer.from(one.hash, 'hex'), Buffer.from(hash, 'hex')));
    return found?.target ?? null;
  }

  // Before anything of its body is read: without a secret nothing is accepted.
  function refuseStrangers(request: FastifyRequest<BeatRoute>, reply: FastifyReply): FastifyReply | undefined {
    if (ownerOf(request.params.secret) !== null) return undefined;
    reply.header('connection', 'close');
    onAnswered('unknown_secret');
    const client = networkOf(request.ip);
    const waitMs = strangers.waitMs(client, 1);
    if (waitMs > 0) return refuse(reply, 429, Math.ceil(waitMs / 1_000), 'too many calls with an unknown secret');
    strangers.take(client, 1);
    reply.callNotFound();
    return reply;
  }

  async function answer(request: FastifyRequest<BeatRoute>, reply: FastifyReply): Promise<FastifyReply> {
    const { secret, what = '' } = request.params;
    const owner = ownerOf(secret);
    const said = kindOf(what);
    if (owner === null || said === null) {
      onAnswered(owner === null ? 'unknown_secret' : 'malformed');
      reply.callNotFound();
      return reply;
    }
    const busyMs = targets.waitMs(owner, 1);
    if (busyMs > 0) {
      onAnswered('too_many');
      return refuse(reply, 429, Math.ceil(busyMs / 1_000), 'too many calls');
    }
    targets.take(owner, 1);
    const { rid = null } = request.query;
    if (rid !== null && (typeof rid !== 'string' || !runPattern.test(rid))) {
      onAnswered('malformed');
      return reply.code(400).send('rid: 1 to 64 letters, digits, "_", ".", ":" and "-"\n');
    }
    const lines = Array.isArray(request.body) ? request.body.map(String) : [];
    const isStored = await routes.hear(owner, { at: clock.now(), ...said, run: rid, log: lines });
    onAnswered(isStored ? said.kind : 'not_stored');
    if (isStored) return reply.send('OK\n');
    log.warn({ target: owner }, 'cannot store a job ping; asked the job to retry');
    return refuse(reply, 503, retryAfterSeconds, 'not stored: try again');
  }

  return async (app) => {
    app.removeAllContentTypeParsers();
    app.addContentTypeParser('*', async (_: FastifyRequest, payload: Readable) => lastLines(payload, clock));
    app.addHook<BeatRoute>('onRequest', async (request, reply) => refuseStrangers(request, reply));
    for (const url of ['/beat/:secret', '/beat/:secret/:what'])
      app.route<BeatRoute>({ method: ['GET', 'HEAD', 'POST'], url, handler: answer });
  };
}

function refuse(reply: FastifyReply, status: number, seconds: number, why: string): FastifyReply {
  return reply.code(status).header('retry-after', String(seconds)).type('text/plain; charset=utf-8').send(`${why}\n`);
}

function kindOf(what: string): Pick<JobPing, 'kind' | 'exitCode'> | null {
  if (what === '') return { kind: 'success', exitCode: null };
  if (what === 'start') return { kind: 'start', exitCode: null };
  if (what === 'fail') return { kind: 'failure', exitCode: null };
  if (!/^\d{1,3}$/.test(what) || Number(what) > 255) return null;
  return { kind: Number(what) === 0 ? 'success' : 'failure', exitCode: Number(what) };
}

// The last lines of what a job sends, within the limits; what comes after them is read and dropped.
async function lastLines(payload: Readable, clock: Clock): Promise<readonly string[]> {
  let tail = Buffer.alloc(0);
  let count = 0;
  await new Promise<void>((resolve, reject) => {
    const limit = clock.after(longestBodyMs, resolve);
    const take = (piece: unknown) => {
      const bytes = Buffer.isBuffer(piece) ? piece : Buffer.from(String(piece));
      count += bytes.length;
      tail = Buffer.concat([tail, bytes]).subarray(-tailBytes);
      if (count >= mostBytes) resolve();
    };
    payload.on('data', take);
    payload.once('end', resolve).once('error', reject);
    payload.once('close', () => {
      limit[Symbol.dispose]();
      resolve();
    });
  });
  payload.removeAllListeners('data').resume();
  return tail
    .toString('utf8')
    .split(/\r?\n|\r/)
    .map((line) => singleLine(line))
    .filter((line) => line !== '')
    .slice(-mostLines);
}
