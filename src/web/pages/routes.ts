import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { startableTypeNames } from '#checks/index.ts';
import type { Page } from '#service/ports.ts';
import { assetRoutes, type Assets } from '../assets/assets.ts';
import type { AccessControl } from '../access/access.ts';
import type { Docs } from './docs.ts';
import { addDocs } from './docs-routes.ts';
import { onlyReaders } from './guard.ts';
import { loginRoutes } from './login.ts';
import type { NodeValue } from './nodes.ts';
import type { ServiceReader, PageSet } from './site.ts';

export interface PageRoutes {
  readonly site: PageSet;
  readonly assets: Assets;
  /** Null if there is no check service. */
  readonly service: ServiceReader | null;
  readonly nodes: () => readonly NodeValue[];
  /** Whether targets are watched: then the first page is about them. */
  readonly hasMonitor: boolean;
  readonly docs: Docs;
  /** Null if all pages are public. */
  readonly access: AccessControl | null;
}

const sendPage = (reply: FastifyReply, { headers, body }: Page) => reply.headers(headers).send(body);

/** The pages that need no monitor, and what all pages load. */
export function pageRoutes({ site, assets, service, nodes, hasMonitor, docs, access }: PageRoutes): FastifyPluginAsync {
  return async (app) => {
    await app.register(assetRoutes(assets));
    app.get('/favicon.ico', (_, reply) => reply.redirect(assets.url('icon.svg')));
    // At the top, because its folder is the part of the site that it works for; no secret, and asked for over a sign-in's end.
    app.get('/push-worker.js', (_, reply) => {
      const script = assets.find(assets.url('push-worker.js').split('/').at(-1) ?? '');
      if (script === null) return reply.callNotFound();
      return reply.type(script.type).header('cache-control', 'no-cache').send(script.body);
    });
    if (!hasMonitor) app.get('/', (_, reply) => reply.redirect(service === null ? '/nodes' : '/check'));
    const userOf = (request: FastifyRequest) => access?.userOf(request) ?? null;
    const guard = access === null ? {} : { onRequest: onlyReaders(access, site) };
    app.get('/nodes', guard, (request, reply) => sendPage(reply, site.nodes(nodes(), userOf(request))));
    // Public reports lead to it.
    addDocs(app, { docs, site, access: service === null ? access : null });
    if (access?.hasUsers === true) await app.register(loginRoutes(site, access));
    if (service === null) return;
    app.get<{ Querystring: Record<string, unknown> }>('/check', (request, reply) => {
      const { query } = request;
      const type = startableTypeNames.find((name) => name === query['type']) ?? 'http';
      const host = typeof query['host'] === 'string' ? query['host'].slice(0, 2_048) : '';
      return sendPage(reply, site.checkForm({ type, host }, service, userOf(request)));
    });
  };
}
