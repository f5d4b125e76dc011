import { isIP } from 'node:net';
import type { FastifyInstance, FastifyPluginAsync, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { WatchpostError } from '#kernel/errors.ts';
import { Duration } from '#kernel/units.ts';
import type { Incident, Silence } from '#monitor/ports.ts';
import { errorBody } from './errors.ts';

type Targets = Silence['targets'];

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
  addSilence(asked: { readonly targets: Targets; readonly forMs: number; readonly why: string }): Silence;
  expireSilence(id: string): Silence;
  openIncidents(): readonly Incident[];
  acknowledge(incident: string, why: string): Promise<Incident>;
}

const Why = z.string().min(1).max(200);
const SilenceBody = z.strictObject({
  targets: z.union([z.literal('all'), z.array(z.string()).min(1).max(1_000)]),
  for: Duration({ min: '1s', max: '365d' }),
  why: Why,
});
const AcknowledgeBody = z.strictObject({ incident: z.string().min(1).max(300), why: Why });

/**
 * The routes under `/-/`, for the operator of this very machine: they are refused to whoever comes from elsewhere, through a
 * proxy that says so, or from a web page.
 */
export function controlRoutes(routes: ControlRoutes): FastifyPluginAsync {
  return async (app) => {
    app.addHook('onRequest', async (request, reply) => {
      const reason = refusal(request);
      if (reason !== null) await reply.code(403).send(errorBody('forbidden', reason));
    });
    app.setErrorHandler((error, _, reply) => {
      if (error instanceof z.ZodError) return reply.code(400).send(errorBody('bad_request', z.prettifyError(error)));
      if (error instanceof WatchpostError && error.code === 'usage')
        return reply.code(404).send(errorBody('not_found', error.message));
      throw error;
    });
    addRoutes(app, routes);
  };
}

function addRoutes(app: FastifyInstance, routes: ControlRoutes): void {
  app.post('/-/reload', async (_, reply) => {
    const { ok, ...rest } = await routes.reload('asked over HTTP');
    if (ok) return { ok: 1, ...rest };
    const problem = errorBody('config_invalid', 'the configuration is invalid, the one in force stays');
    return reply.code(422).send({ ...problem, ...rest });
  });
  app.get('/-/silences', async () => ({ ok: 1, silences: routes.silences().map(shownSilence) }));
  app.post('/-/silences', async (request) => {
    const { targets, for: forMs, why } = SilenceBody.parse(request.body);
    return { ok: 1, silence: shownSilence(routes.addSilence({ targets, forMs, why })) };
  });
  app.post<{ Params: { id: string } }>('/-/silences/:id/expire', async (request) => ({
    ok: 1,
    silence: shownSilence(routes.expireSilence(request.params.id)),
  }));
  app.get('/-/incidents', async () => ({ ok: 1, incidents: routes.openIncidents().map(shownIncident) }));
  app.post('/-/incidents/acknowledge', async (request) => {
    const { incident, why } = AcknowledgeBody.parse(request.body);
    return { ok: 1, incident: shownIncident(await routes.acknowledge(incident, why)) };
  });
}

function shownSilence({ id, targets, why, from, until }: Silence) {
  return { id, targets, why, from: new Date(from).toISOString(), until: new Date(until).toISOString() };
}

function shownIncident({ id, target, rule, severity, cause, startedAt, held, acknowledged }: Incident) {
  return {
    id,
    target,
    rule,
    severity,
    cause,
    started_at: new Date(startedAt).toISOString(),
    held: held?.why ?? null,
    acknowledged: acknowledged?.why ?? null,
  };
}

// Looks at the connection itself: what a proxy says about it counts against the request, never for it.
function refusal({ raw, headers }: FastifyRequest): string | null {
  const { remoteAddress = '', localAddress = '' } = raw.socket;
  if (!isLoopback(remoteAddress) && remoteAddress !== localAddress) return 'this is for the machine itself only';
  for (const name of ['origin', 'forwarded', 'x-forwarded-for', 'x-real-ip', 'via']) {
    if (headers[name] !== undefined) return `this is not for requests with the header ${name}`;
  }
  const host = (headers.host ?? '').replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1');
  if (isIP(host) === 0 && host !== 'localhost') return 'this is for requests by address or to localhost only';
  return null;
}

function isLoopback(address: string): boolean {
  return address === '::1' || /^(?:::ffff:)?127\./.test(address);
}
