import type { IncomingHttpHeaders } from 'node:http';
import type { Duplex } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { systemCode } from '#kernel/errors.ts';
import { acceptsPages } from '#kernel/headers.ts';
import type { Log } from '#kernel/log.ts';
import { type ApiErrorCode, codeOfStatus, type ErrorBody, errorBody, refusalOf } from '#protocol/errors.ts';
import { singleLine } from '#kernel/text.ts';

/** A page that tells a browser what went wrong. */
export type ProblemPage = (
  problem: { readonly status: number; readonly code: string; readonly message: string },
  request: Pick<FastifyRequest, 'host' | 'url' | 'headers' | 'query'>,
) => {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

/** The headers that let a page of another site read an answer to its request; none if it may not. */
export type CorsHeaders = (headers: IncomingHttpHeaders) => Readonly<Record<string, string>>;

export interface ErrorAnswers {
  readonly log: Log;
  readonly cors: CorsHeaders;
  readonly page: ProblemPage | undefined;
}

/** Answers what no route answers, and what a route throws. Faults of ours are logged, and the answer does not tell them. */
export function answerErrors(app: FastifyInstance, { log, cors, page }: ErrorAnswers): void {
  const answer = (request: FastifyRequest, reply: FastifyReply, status: number, code: ApiErrorCode, message: string) =>
    answerProblem({ request, reply, page }, { status, code, message });
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.replace(/[?#].*$/s, '');
    reply.headers(cors(request.headers));
    return answer(request, reply, 404, 'not_found', `there is no ${request.method} ${path} here`);
  });
  app.setErrorHandler((error, request, reply) => {
    const status = statusOf(error);
    if (status >= 500 && status !== 503) {
      log.error({ method: request.method, url: withoutSecret(request.url), err: error }, 'request failed');
      return answer(request, reply, 500, 'internal', 'internal error; the log has the reason');
    }
    return answer(request, reply, status, codeOfStatus(status), refusalOf(error));
  });
}

interface ErrorContext {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly page: ProblemPage | undefined;
}

/** Says what went wrong: to a browser as a page, if there is one, and to everything else as JSON. */
export function answerProblem(
  { request, reply, page }: ErrorContext,
  { status, code, message }: { readonly status: number; readonly code: ApiErrorCode; readonly message: string },
): FastifyReply {
  reply.code(status);
  if (page === undefined) return reply.send(errorBody(code, message));
  reply.header('vary', 'accept');
  if (!acceptsPages(request.headers)) return reply.send(errorBody(code, message));
  const { headers, body } = page({ status, code, message: singleLine(message) }, request);
  return reply.headers(headers).send(body);
}

/** Answers what fails before any route or hook is asked, such as a path that cannot be decoded. */
export function frameworkErrors(error: Error, answering: ErrorContext): void {
  const status = statusOf(error);
  void answerProblem(answering, { status, code: codeOfStatus(status), message: refusalOf(error) });
}

/**
 * Answers what is no HTTP, is too long or came too late, and ends the connection. `headers` are those of the request, if they were read
 * before.
 */
export function refuseClient(error: Error, socket: Duplex, cors: CorsHeaders, headers?: IncomingHttpHeaders): void {
  if (systemCode(error) === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, body] = refusals.get(systemCode(error) ?? '') ?? badRequest;
  const json = JSON.stringify(body);
  const more = Object.entries(cors(headers ?? unreadHeaders(error))).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(
    `HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Type: application/json\r\n${more.join('')}` +
      `Content-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`,
  );
}

// The parser stops at a head that is too long. Browsers send the origin before headers that a page adds, and in one packet with them.
function unreadHeaders(error: Error): IncomingHttpHeaders {
  const packet = 'rawPacket' in error && Buffer.isBuffer(error.rawPacket) ? error.rawPacket.toString('latin1') : '';
  const [, origin] = /\r\norigin:[ \t]*([!-~]+)[ \t]*\r\n/i.exec(packet) ?? [];
  return origin === undefined ? {} : { origin };
}

const badRequest = ['400 Bad Request', errorBody('bad_request', 'this is no HTTP request')] as const;

const refusals: ReadonlyMap<string, readonly [string, ErrorBody]> = new Map([
  ['HPE_HEADER_OVERFLOW', ['431 Request Header Fields Too Large', errorBody('too_large', 'the headers are too long')]],
  ['ERR_HTTP_REQUEST_TIMEOUT', ['408 Request Timeout', errorBody('timeout', 'the request took too long')]],
]);

function statusOf(error: unknown): number {
  const status = error instanceof Error && 'statusCode' in error ? error.statusCode : 500;
  return typeof status === 'number' && status >= 400 && status < 600 ? status : 500;
}

/** The path and query of a request for a log, without secrets. */
export function withoutSecret(url: string): string {
  // However it is written: the router reads %62eat as beat.
  const path = url.replaceAll(/%([2-7][\da-f])/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
  const secret = /^(?:\w+:\/\/[^/]*)?\/+(beat|acknowledge|(?:status\/[^/]+\/)?(?:confirm|unsubscribe))\/[^/?#]+/;
  return secret.test(path) ? path.replace(secret, '/$1/[secret]') : url;
}
