import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Access } from '../access/access.ts';
import type { Site } from './site.ts';
import { texts } from './texts.ts';

/** A hook that sends whoever may not read to where he can sign in. */
export function onlyReaders(access: Access, site: Site) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    if (access.mayRead(request)) return;
    const isPage = (request.headers.accept ?? '').includes('text/html') && request.method === 'GET';
    if (access.hasUsers && isPage) {
      await reply.redirect(`/login?next=${encodeURIComponent(request.url)}`, 303);
      return;
    }
    const message = access.hasUsers ? texts.problems.signIn : texts.problems.notForStrangers;
    const { headers, body } = site.problem({ status: 403, code: 'forbidden', message });
    await reply.code(403).headers(headers).send(body);
  };
}
