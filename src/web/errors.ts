import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { messageOf, systemCode } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import { codeOfStatus, type ErrorBody, errorBody } from '#protocol/errors.ts';

/** Answers what no route answers, and what a route throws. Faults of ours are logged, and the answer does not tell them. */
export function answerErrors(app: FastifyInstance, log: Log): void {
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.replace(/[?#].*$/s, '');
    return reply.code(404).send(errorBody('not_found', `there is no ${request.method} ${path} here`));
  });
  app.setErrorHandler((error, request, reply) => {
    const status = statusOf(error);
    if (status >= 500 && status !== 503) {
      log.error({ method: request.method, url: request.url, err: error }, 'request failed');
      return reply.code(500).send(errorBody('internal', 'something went wrong here; the log tells what'));
    }
    return reply.code(status).send(errorBody(codeOfStatus(status), messageOf(error)));
  });
}

/** Answers what fails before any route or hook is asked, such as a path that cannot be decoded. */
export function frameworkErrors(error: Error, _: unknown, reply: FastifyReply): void {
  reply.code(statusOf(error)).send(errorBody(codeOfStatus(statusOf(error)), messageOf(error)));
}

/** Answers what is no HTTP, is too long or came too late, and ends the connection. */
export function refuseClient(error: Error, socket: Socket): void {
  if (systemCode(error) === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, body] = refusals.get(systemCode(error) ?? '') ?? badRequest;
  const json = JSON.stringify(body);
  socket.end(
    `HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`,
  );
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
