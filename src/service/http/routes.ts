import type { FastifyPluginAsync } from 'fastify';
import { interfaceTypeNames } from '#checks/index.ts';
import type { CheckStarted } from '#protocol/shapes.ts';
import { nodeIdOf, toDescriptor, toEntry } from '#protocol/wire.ts';
import { allowOrigins } from './cors.ts';
import { answerFailures, ApiFailure } from './failure.ts';
import { baseUrlOf, wantsPage } from './negotiate.ts';
import { acceptAnyBody, parametersOf, queryOf } from './parameters.ts';
import { createTexts, sendEvents, sendVersion, withRun } from './results.ts';
import type { ServiceOptions } from './settings.ts';
import { interfaceInput } from './start-input.ts';
import { startCheck } from './start.ts';
import { addVersionOne } from './version-one.ts';

interface IdRoute {
  readonly Params: { readonly id: string };
}

const both = ['GET', 'POST'];
const json = 'application/json; charset=utf-8';

/** The check service over HTTP: the interface, and `/api/v1/` with everything that is known besides. */
export function checkService(options: ServiceOptions): FastifyPluginAsync {
  const { checks, nodeDomain, compatible, clock, log, publicUrl, pages } = options;
  const texts = createTexts(options);

  return async (app) => {
    acceptAnyBody(app);
    answerFailures(app, pages, log);
    const addPreflights = allowOrigins(app, options.access);
    app.addHook('preClose', async () => checks.close());

    app.route<{ Params: { type: string } }>({
      method: both,
      url: '/check-:type',
      exposeHeadRoute: false,
      async handler(request, reply) {
        const read = parametersOf(request);
        const parameters = read instanceof Promise ? await read : read;
        const input = interfaceInput(request.params.type, parameters, interfaceTypeNames);
        const { run, headers } = await startCheck(request, input, options);
        const report = `check-report/${run.id}`;
        reply.headers({ ...headers, 'cache-control': 'no-store', vary: 'accept' });
        // A browser stays if it is: the page's own policy lets a form lead nowhere else.
        if (wantsPage(request)) return reply.redirect(report, 303);
        const started: CheckStarted = {
          ok: 1,
          request_id: run.id,
          permanent_link: `${baseUrlOf(request, publicUrl)}/${report}`,
          nodes: Object.fromEntries(
            run.results.map(({ node }) => [nodeIdOf(node.name, nodeDomain), toDescriptor(node)]),
          ),
        };
        // The reply itself is a promise, which would be waited for.
        void reply.type(json).send(JSON.stringify(started));
        return undefined;
      },
    });
    app.route<IdRoute>({
      method: both,
      url: '/check-result/:id',
      handler: (request, reply) =>
        withRun(request.params.id, request, reply, options, (run) =>
          sendVersion(request, reply, run, () => texts.plain(run)),
        ),
    });

    app.route<IdRoute>({
      method: both,
      url: '/check-result-extended/:id',
      handler: (request, reply) =>
        withRun(request.params.id, request, reply, options, (run) =>
          sendVersion(request, reply, run, () => texts.extended(run)),
        ),
    });

    app.get<IdRoute>('/check-result/:id/events', { exposeHeadRoute: false }, (request, reply) =>
      withRun(request.params.id, request, reply, options, (run) => sendEvents(request, reply, run, texts, clock)),
    );

    app.route<IdRoute>({
      method: both,
      url: '/check-report/:id',
      handler: (request, reply) =>
        withRun(request.params.id, request, reply, options, (run) => {
          reply.header('vary', 'accept');
          if (wantsPage(request)) {
            const { headers, body } = pages.report(run, queryOf(request).get('target'), baseUrlOf(request, publicUrl));
            return reply.headers(headers).send(body);
          }
          return sendVersion(request, reply, run, () => texts.extended(run));
        }),
    });

    app.get<IdRoute>('/check-report/:id/card.png', (request, reply) =>
      withRun(request.params.id, request, reply, options, (run) => {
        const { headers, body } = pages.card(run);
        return reply.headers(headers).send(body);
      }),
    );

    for (const path of ['/check-result', '/check-result-extended', '/check-report']) {
      app.route({
        method: both,
        url: path,
        handler: async () => {
          throw new ApiFailure('not_found', `${path} needs the identifier of a check: ${path}/<request_id>`);
        },
      });
    }

    const online = () => checks.nodes().flatMap((node) => (node.online ? [node.info] : []));
    const list = () => ({
      nodes: Object.fromEntries(online().map((info) => [nodeIdOf(info.name, nodeDomain), toEntry(info)])),
    });
    const addresses = () => ({
      nodes: online()
        .map(({ ip }) => ip)
        .filter((ip) => ip !== ''),
    });
    const nodesRoute = (url: string, answer: () => unknown) =>
      app.route({ method: both, url, handler: async (_, reply) => reply.type(json).send(JSON.stringify(answer())) });
    nodesRoute('/nodes/hosts', list);
    nodesRoute('/nodes/ips', compatible ? addresses : list);

    app.get('/robots.txt', (_, reply) => reply.type('text/plain; charset=utf-8').send(robots));
    addVersionOne(app, options);
    addPreflights();
  };
}

// A robot that follows a link to a start would start a check.
const robots = 'User-agent: *\nDisallow: /check-\nDisallow: /api/\n';
