import type { FastifyPluginAsync } from 'fastify';
import { z } from 'zod';
import { errorBody } from '#protocol/errors.ts';
import { onlyLocal } from './local.ts';

export const StatesQuery = z.strictObject({
  since: z.coerce.number().int().min(0).default(0).describe('The `version` of an answer before; 0: all states.'),
});

/** The states of targets, for programs on this machine: `/-/states?since=` with the version that an answer before gave. */
export function stateRoutes(statesSince: (version: number) => object): FastifyPluginAsync {
  return async (app) => {
    app.addHook('onRequest', onlyLocal());
    app.get('/-/states', (request, reply) => {
      const { data } = StatesQuery.safeParse(request.query);
      if (data === undefined)
        return reply.code(400).send(errorBody('bad_request', 'since: expected the version that an answer before gave'));
      return reply.send({ ok: 1, ...statesSince(data.since) });
    });
  };
}
