import { Agent } from 'node:http';
import { Agent as SecureAgent } from 'node:https';
import got, { type Got, RequestError } from 'got';
import { failure, type FailureCode } from '#checks/index.ts';
import { type Clock, deadline } from '#kernel/clock.ts';
import { messageOf, systemCode, WatchpostError } from '#kernel/errors.ts';
import { receive } from '#kernel/receive.ts';
import type { Secret } from '#kernel/secret.ts';
import { formatDuration } from '#kernel/units.ts';
import { userAgent } from '#kernel/version.ts';
import { pauseIn, readReply, type ServiceReply } from './reply.ts';

export interface HttpOptions {
  /** The `base_url` of the interface, without a slash at its end. */
  readonly url: string;
  readonly token: Secret | null;
  readonly clock: Clock;
}

export interface ServiceCall {
  /** Begins with a slash. */
  readonly path: string;
  readonly query: readonly (readonly [name: string, value: string])[];
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface Http {
  /** One GET. Every way it can fail is a reply; it rejects only with the signal's reason. */
  get(call: ServiceCall): Promise<ServiceReply>;
  close(): void;
}

const mostBytes = 1_048_576;
const mostSockets = 20;
const mostRedirects = 3;

export function createHttp({ url, token, clock }: HttpOptions): Http {
  const agents = {
    http: new Agent({ keepAlive: true, maxSockets: mostSockets }),
    https: new SecureAgent({ keepAlive: true, maxSockets: mostSockets }),
  };
  const client = got.extend({
    agent: agents,
    headers: {
      accept: 'application/json',
      'user-agent': userAgent,
      ...(token === null ? {} : { authorization: `Bearer ${token.reveal()}` }),
    },
    retry: { limit: 0 },
    throwHttpErrors: false,
    maxRedirects: mostRedirects,
    followRedirect: ({ headers, url: from }) => isSameService(headers.location, from),
  });
  return {
    async get({ path, query, timeoutMs, signal }) {
      using limit = deadline(clock, timeoutMs, signal);
      try {
        return await ask(client, `${url}${path}${queryOf(query)}`, limit.signal, clock.now());
      } catch (error) {
        signal.throwIfAborted();
        if (limit.expired) return unreachable(`no answer within ${formatDuration(timeoutMs)}`);
        if (error instanceof RequestError) return unreachable(reasonOf(error));
        throw new WatchpostError('internal', `request to the check service: ${messageOf(error)}`, { cause: error });
      }
    },
    close() {
      agents.http.destroy();
      agents.https.destroy();
    },
  };
}

// Read as a stream, so that what is too large is not kept, also not what decompresses to it.
async function ask(client: Got, url: string, signal: AbortSignal, now: number): Promise<ServiceReply> {
  const stream = client.stream(url, { signal });
  const { bytes, isMore, broken } = await receive(stream, mostBytes);
  if (broken !== null) throw broken.by;
  if (isMore) return failedReply('service_answer', `the check service answered with more than ${mostBytes} bytes`);
  const { response } = stream;
  if (response === undefined) return unreachable('it closed the connection without an answer');
  const { statusCode, headers } = response;
  return readReply({ status: statusCode, headers, text: bytes.toString('utf8') }, pauseIn(headers, now));
}

// Another host would get the token and could answer anything; the same host may turn http into https.
function isSameService(location: string | undefined, from: string): boolean {
  const [here, there] = [URL.parse(from), URL.parse(location ?? '', from)];
  if (here === null || there === null) return false;
  if (there.origin === here.origin) return true;
  return there.hostname === here.hostname && here.protocol === 'http:' && there.protocol === 'https:';
}

function queryOf(query: ServiceCall['query']): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of query) parameters.append(name, value);
  return parameters.size === 0 ? '' : `?${parameters.toString()}`;
}

function reasonOf(error: RequestError): string {
  const code = systemCode(error);
  switch (code) {
    case 'ECONNREFUSED':
      return 'connection refused';
    case 'ECONNRESET':
      return 'connection reset';
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'its name cannot be resolved';
    case 'ERR_TOO_MANY_REDIRECTS':
      return 'it redirects in a circle';
    default:
      return messageOf(error);
  }
}

function unreachable(why: string): ServiceReply {
  return failedReply('service_unreachable', `the check service cannot be reached: ${why}`);
}

function failedReply(code: FailureCode, message: string): ServiceReply {
  return { kind: 'trouble', failure: failure('service', code, message), gone: false, pauseMs: null };
}
