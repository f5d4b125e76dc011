import type { FastifyInstance, FastifyPluginAsync } from 'fastify';
import { z } from 'zod';
import type { GatheredEvidence } from '#history/evidence.ts';
import { Duration } from '#kernel/unit-schemas.ts';
import type { Silence, SilenceRequest } from '#monitor/suppress/silence.ts';
import type { ListedDelivery } from '#monitor/judge/delivery.ts';
import { type Incident, isAboutUs, latestCause } from '#monitor/judge/incident.ts';
import { errorBody } from '#protocol/errors.ts';
import { shownEvidence } from './evidence.ts';
import { onlyForOperators } from './local.ts';
import { readRequest } from './request-input.ts';

/** What the operator's routes need. What is asked wrongly throws `usage`. */
export interface ControlRoutes {
  reload(cause: string): Promise<
    | {
        readonly ok: true;
        readonly added: readonly string[];
        readonly changed: readonly string[];
        readonly removed: readonly string[];
        readonly needsRestart: readonly string[];
      }
    | { readonly ok: false; readonly problems: readonly string[] }
  >;
  silences(): readonly Silence[];
  addSilence(asked: SilenceRequest): Silence;
  expireSilence(id: string): Silence;
  openIncidents(): readonly Incident[];
  /** The deliveries of an incident and their outcomes, the newest first. */
  deliveriesOf(incident: string): readonly ListedDelivery[];
  acknowledge(incident: string, why: string): Promise<Incident>;
  /** Has nodes gather evidence about a target now. Resolves after some seconds. */
  gatherEvidence(target: string): Promise<{
    readonly target: string;
    readonly incident: string | null;
    readonly parts: readonly GatheredEvidence[];
  }>;
  /** What the configuration in force says, for comparing; secrets show by the salt whether they are the same. */
  outline(salt: string): object;
}

const Why = z.string().min(1).max(200);
export const SilenceBody = z.strictObject({
  targets: z.union([z.literal('all'), z.array(z.string()).min(1).max(1_000)]),
  for: Duration({ min: '1s', max: '365d' }),
  from: z.iso.datetime({ offset: true }).optional(),
  why: Why,
});
export const PlanQuery = z.strictObject({
  salt: z.string().min(1).max(100).describe('Secrets show by it whether they are the same.'),
});
export const EvidenceBody = z.strictObject({ target: z.string().min(1).max(300) });
export const AcknowledgeBody = z.strictObject({ incident: z.string().min(1).max(300), why: Why });

/** What an operator tells the running program: reload, silences, incidents. For programs on this machine only. */
export function controlRoutes(routes: ControlRoutes): FastifyPluginAsync {
  return async (app) => {
    onlyForOperators(app, 'not_found');
    addRoutes(app, routes);
    addEvidence(app, routes);
  };
}

function addRoutes(app: FastifyInstance, routes: ControlRoutes): void {
  app.route({
    method: 'POST',
    url: '/-/reload',
    async handler(_, reply) {
      const { ok, ...rest } = await routes.reload('asked over HTTP');
      if (ok) return { ok: 1, ...rest };
      const problem = errorBody('config_invalid', 'the configuration is invalid, the one in force stays');
      return reply.code(422).send({ ...problem, ...rest });
    },
  });
  app.get('/-/silences', (_, reply) => reply.send({ ok: 1, silences: routes.silences().map(shownSilence) }));
  app.post('/-/silences', (request, reply) => {
    const { targets, for: forMs, from, why } = readRequest(SilenceBody, request.body);
    const begin = from === undefined ? null : Date.parse(from);
    return reply.send({ ok: 1, silence: shownSilence(routes.addSilence({ targets, from: begin, forMs, why })) });
  });
  app.post<{ Params: { id: string } }>('/-/silences/:id/expire', (request, reply) =>
    reply.send({ ok: 1, silence: shownSilence(routes.expireSilence(request.params.id)) }),
  );
  const shown = (incident: Incident) => ({
    ...shownIncident(incident),
    deliveries: routes.deliveriesOf(incident.id).map(shownDelivery),
  });
  app.get('/-/incidents', (_, reply) => reply.send({ ok: 1, incidents: routes.openIncidents().map(shown) }));
  app.get('/-/plan', (request, reply) => {
    const { salt } = readRequest(PlanQuery, request.query);
    // Our own incidents do not depend on a configuration.
    const open = routes.openIncidents().filter(({ target }) => !isAboutUs(target));
    const incidents = open.map(({ notified, ...incident }) => ({ ...shownIncident(incident), told: notified }));
    return reply.send({ ok: 1, outline: routes.outline(salt), incidents });
  });
  app.route({
    method: 'POST',
    url: '/-/incidents/acknowledge',
    async handler(request) {
      const { incident, why } = readRequest(AcknowledgeBody, request.body);
      return { ok: 1, incident: shownIncident(await routes.acknowledge(incident, why)) };
    },
  });
}

function addEvidence(app: FastifyInstance, routes: ControlRoutes): void {
  app.route({
    method: 'POST',
    url: '/-/evidence',
    async handler(request) {
      const { target, incident, parts } = await routes.gatherEvidence(readRequest(EvidenceBody, request.body).target);
      return { ok: 1, target, incident, evidence: shownEvidence(parts) };
    },
  });
}

function shownSilence({ id, targets, why, from, until }: Silence) {
  return { id, targets, why, from: new Date(from).toISOString(), until: new Date(until).toISOString() };
}

function shownIncident({
  id,
  target,
  rule,
  severity,
  startedAt,
  held,
  acknowledged,
  ...reasons
}: Omit<Incident, 'notified'>) {
  return {
    id,
    target,
    rule,
    severity,
    cause: latestCause(reasons),
    started_at: new Date(startedAt).toISOString(),
    held: held?.why ?? null,
    acknowledged: acknowledged?.why ?? null,
  };
}

function shownDelivery({ kind, channel, recipient, state, settledAt, lastError }: ListedDelivery): object {
  const at = settledAt === null ? null : new Date(settledAt).toISOString();
  return { kind, channel, recipient, state, at, last_error: lastError };
}
