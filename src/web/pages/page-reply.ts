import type { FastifyReply } from 'fastify';
import type { PageSet } from './site.ts';

interface WholePage {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export const send = (reply: FastifyReply, { headers, body }: WholePage): FastifyReply =>
  reply.headers(headers).send(body);

/** Answers that there is no such page. */
export const missing = (reply: FastifyReply, site: PageSet, message: string): FastifyReply =>
  send(reply.code(404), site.problem({ status: 404, code: 'not_found', message }));
