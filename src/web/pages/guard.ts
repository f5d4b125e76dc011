import type { FastifyReply, FastifyRequest } from 'fastify';
import { errorBody } from '#protocol/errors.ts';
import type { AccessControl } from '../access/access.ts';
import type { PageSet } from './site.ts';
import { texts } from './texts.ts';

/** A hook that redirects to the login if the caller may not read; programs get an error. */
export function onlyReaders(access: AccessControl, site: PageSet) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    if (access.mayRead(request)) return;
    const takesPages = (request.headers.accept ?? '').includes('text/html');
    if (access.hasUsers && takesPages && request.method === 'GET') {
      await reply.redirect(`/login?next=${encodeURIComponent(request.url)}`, 303);
      return;
    }
    const message = access.hasUsers ? texts.problems.signIn : texts.problems.notForStrangers;
    reply.code(403).header('vary', 'accept');
    if (!takesPages) {
      await reply.send(errorBody('forbidden', message));
      return;
    }
    const { headers, body } = site.problem({ status: 403, code: 'forbidden', message });
    await reply.headers(headers).send(body);
  };
}
