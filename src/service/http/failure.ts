import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { startableTypeNames } from '#checks/index.ts';
import { WatchpostError } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import { type ApiErrorCode, apiErrors, codeOfStatus, errorBody, refusalOf } from '#protocol/errors.ts';
import type { ServicePages } from '../ports.ts';
import { wantsPage } from './negotiate.ts';

/** A call that fails by a code of the table. */
export class ApiFailure extends Error {
  override readonly name = 'ApiFailure';
  readonly code: ApiErrorCode;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: ApiErrorCode,
    message: string,
    { status = apiErrors[code].status, headers = {} }: { status?: number; headers?: Record<string, string> } = {},
  ) {
    super(message);
    this.code = code;
    this.status = status;
    this.headers = headers;
  }
}

const Asked = z.object({ type: z.enum(startableTypeNames), host: z.string().max(2_048) });

/**
 * Every call that fails answers with a body of the table; a browser gets a page that says the same. What is a fault of ours is logged,
 * and the answer does not tell it.
 */
export function answerFailures(app: FastifyInstance, pages: ServicePages, log: Log): void {
  app.setErrorHandler((error, request, reply) => {
    const failure = failureOf(error);
    if (failure === null) {
      log.error({ method: request.method, url: request.url, err: error }, 'request failed');
      return answer(request, reply, new ApiFailure('internal', 'internal error; the log has the reason'), pages);
    }
    if (failure.status === 503) log.warn({ url: request.url, err: error }, failure.message);
    return answer(request, reply, failure, pages);
  });
}

function answer(
  request: FastifyRequest,
  reply: FastifyReply,
  { code, status, message, headers }: ApiFailure,
  pages: ServicePages,
) {
  reply.code(status).headers({ ...headers, vary: 'accept' });
  if (wantsPage(request)) {
    const page = pages.failure({ status, code, message }, status < 500 ? askedIn(request) : null);
    return reply.headers(page.headers).send(page.body);
  }
  return reply
    .header('cache-control', 'no-store')
    .type('application/json; charset=utf-8')
    .send(JSON.stringify(errorBody(code, message)));
}

/** The check that a browser wanted to start, with what it said of it. */
function askedIn({ routeOptions: { url = '' }, method, body, query, params }: FastifyRequest) {
  const isStart = method === 'POST' && /^\/(?:api\/v1\/checks|check-:type)$/.test(url);
  const { data } = Asked.safeParse({ ...recordOf(params), ...recordOf(query), ...recordOf(body) });
  return data !== undefined && (isStart || url === '/check-:type') ? data : null;
}

const recordOf = (value: unknown): object => (typeof value === 'object' && value !== null ? value : {});

function failureOf(error: unknown): ApiFailure | null {
  if (error instanceof ApiFailure) return error;
  if (error instanceof WatchpostError) {
    if (error.code !== 'service_busy' && error.code !== 'store_failed') return null;
    const message = error.code === 'service_busy' ? error.message : 'checks cannot be stored now; try again later';
    return new ApiFailure('unavailable', message, { headers: { 'retry-after': '5' } });
  }
  const status = clientFault(error);
  return status === null ? null : new ApiFailure(codeOfStatus(status), refusalOf(error));
}

// What the framework refuses bears a status.
function clientFault(error: unknown): number | null {
  if (!(error instanceof Error) || !('statusCode' in error) || typeof error.statusCode !== 'number') return null;
  return error.statusCode >= 400 && error.statusCode < 500 ? error.statusCode : null;
}
