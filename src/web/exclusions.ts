import type { FastifyPluginAsync } from 'fastify';
import { z } from 'zod';
import type { Exclusion, Exclusions } from '#history/exclusions.ts';
import { onlyForOperators } from './local.ts';
import { readRequest } from './request-input.ts';

const Time = z.iso.datetime({ offset: true });

export const ExclusionBody = z.strictObject({
  target: z.string().min(1).max(300).nullable().describe('The name of the target; null for all targets.'),
  from: Time,
  to: Time,
  why: z.string().trim().min(1).max(200),
});

/** Time that does not count for uptime: added, listed and removed by programs on this machine only. */
export function exclusionRoutes(exclusions: Exclusions): FastifyPluginAsync {
  return async (app) => {
    onlyForOperators(app, 'not_found');
    app.get('/-/exclusions', (_, reply) => reply.send({ ok: 1, exclusions: exclusions.list().map(shownExclusion) }));
    app.post('/-/exclusions', (request, reply) => {
      const { from, to, ...rest } = readRequest(ExclusionBody, request.body);
      const exclusion = exclusions.add({ ...rest, from: Date.parse(from), to: Date.parse(to) });
      return reply.send({ ok: 1, exclusion: shownExclusion(exclusion) });
    });
    app.post<{ Params: { id: string } }>('/-/exclusions/:id/remove', (request, reply) =>
      reply.send({ ok: 1, exclusion: shownExclusion(exclusions.remove(request.params.id)) }),
    );
  };
}

/** An exclusion as programs read it. */
function shownExclusion({ id, target, from, to, why, createdAt }: Exclusion) {
  const timeOf = (at: number) => new Date(at).toISOString();
  return { id, target, from: timeOf(from), to: timeOf(to), why, created_at: timeOf(createdAt) };
}
