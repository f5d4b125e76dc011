import type { FastifyInstance } from 'fastify';
import { type AccessRules, isNamedOrigin } from '../access.ts';
import { ApiFailure } from './failure.ts';

// What scripts may read besides the headers that they may always read (Fetch, section 3.3.5).
const exposed =
  'etag, location, retry-after, www-authenticate, ' +
  'x-ratelimit-limit, x-ratelimit-remaining, x-ratelimit-reset, x-ratelimit-resource';
const accepted = 'authorization, content-type, if-none-match, last-event-id';

type Rules = Pick<AccessRules, 'origins'>;

/** The headers that let the page that sent these request headers read the response (Fetch, section 3.3.3); none if it may not. */
export function corsHeaders(
  headers: Parameters<typeof isNamedOrigin>[0],
  rules: Rules,
): Readonly<Record<string, string>> {
  if (!isNamedOrigin(headers, rules)) return {};
  return {
    'access-control-allow-origin': rules.origins.includes('*') ? '*' : String(headers['origin']),
    'access-control-expose-headers': exposed,
    'cross-origin-resource-policy': 'cross-origin',
  };
}

/**
 * Lets pages of the named origins read responses of the routes that are added to `app` from now on, without cookies (Fetch, section 3.3).
 * Call the returned function when all routes are added: it adds the routes of preflight requests. Without origins both do nothing.
 */
export function allowOrigins(app: FastifyInstance, rules: Rules): () => void {
  if (rules.origins.length === 0) return () => {};
  const served = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ url, method }) => {
    const known = served.get(url) ?? new Set();
    for (const one of [method].flat()) known.add(one);
    served.set(url, known);
  });
  app.addHook('onSend', async ({ headers }, reply) => {
    const vary = reply.getHeader('vary');
    reply.header('vary', vary === undefined ? 'origin' : `${String(vary)}, origin`);
    reply.headers(corsHeaders(headers, rules));
  });
  return () => {
    for (const [url, methods] of served) {
      const allow = [...methods].toSorted().join(', ');
      app.options(url, (request, reply) => {
        if (!isNamedOrigin(request.headers, rules))
          throw new ApiFailure('cross_site', 'service.cors does not name this origin');
        return reply
          .code(204)
          .headers({ 'access-control-allow-methods': allow, 'access-control-allow-headers': accepted })
          .header('access-control-max-age', '7200')
          .send();
      });
    }
  };
}
