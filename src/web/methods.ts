import type { FastifyInstance, FastifyPluginAsync, HTTPMethods } from 'fastify';
import { answerProblem, type ErrorAnswers } from './errors.ts';

const methods = [
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'TRACE',
] as const satisfies readonly HTTPMethods[];

/** Notes what is served from now on. Gives a plugin, to be registered last, that answers 405 to every other method of these paths. */
export function otherMethods(
  app: FastifyInstance,
  { cors, page }: Pick<ErrorAnswers, 'cors' | 'page'>,
): FastifyPluginAsync {
  const served = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ url, method }) => {
    const known = served.get(url) ?? new Set();
    for (const one of [method].flat()) known.add(one);
    served.set(url, known);
  });
  return async (late) => {
    for (const [url, known] of served) {
      const others = methods.filter((method) => !known.has(method));
      if (others.length > 0) refuse(late, { url, others, allow: [...known].toSorted().join(', '), cors, page });
    }
  };
}

interface Refusal extends Pick<ErrorAnswers, 'cors' | 'page'> {
  readonly url: string;
  readonly others: HTTPMethods[];
  readonly allow: string;
}

// Before the body is read: of what type it is does not matter any more.
function refuse(app: FastifyInstance, { url, others, allow, cors, page }: Refusal): void {
  app.route({
    method: others,
    url,
    exposeHeadRoute: false,
    onRequest(request, reply) {
      reply.headers({ allow, ...cors(request.headers) });
      const message = `${request.method} is not served here: use ${allow}`;
      void answerProblem({ request, reply, page }, { status: 405, code: 'method_not_allowed', message });
    },
    handler: () => {},
  });
}
