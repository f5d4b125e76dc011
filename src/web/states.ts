import type { FastifyPluginAsync } from 'fastify';
import { z } from 'zod';
import { errorBody } from '#protocol/errors.ts';
import { onlyLocal } from './local.ts';

const Query = z.strictObject({ since: z.coerce.number().int().min(0).default(0) });

/** The states of targets, for programs on this machine: `/-/states?since=` with the version that an answer before gave. */
export function stateRoutes(statesSince: (version: number) => object): FastifyPluginAsync {
  return async (app) => {
    app.addHook('onRequest', onlyLocal());
    app.get('/-/states', (request, reply) => {
      const { data } = Query.safeParse(request.query);
      if (data === undefined)
        return reply.code(400).send(errorBody('bad_request', 'since: expected the version that an answer before gave'));
      return reply.send({ ok: 1, ...statesSince(data.since) });
    });
  };
}
