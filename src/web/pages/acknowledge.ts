import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { WatchpostError } from '#kernel/errors.ts';
import { acceptsPages } from '#kernel/headers.ts';
import { type Incident, latestCause } from '#monitor/judge/incident.ts';
import { errorBody } from '#protocol/errors.ts';
import { foreign, html, nothing } from './markup.ts';
import type { Site } from './site.ts';

/** What the page behind the links in messages needs. */
export interface AcknowledgeRoutes {
  readonly site: Site;
  /** What a link says; null where it is none of ours. */
  read(token: string): { readonly incident: string; readonly recipient: string } | null;
  openIncidents(): readonly Incident[];
  /** Throws `usage` where no such incident is open. */
  acknowledge(incident: string, why: string): Promise<Incident>;
}

interface Shown {
  readonly status: 200 | 404 | 410;
  readonly title: string;
  readonly text: string;
  /** The words on the button, where there is something to do. */
  readonly button?: string;
}

/** The path of a link to acknowledge. */
export const acknowledgePath = '/acknowledge/';

const unknown: Shown = {
  status: 404,
  title: 'Not known',
  text: 'This link is not known here. Please open it as it is in the message.',
};
const over: Shown = {
  status: 410,
  title: 'Over',
  text: 'This incident is over: there is nothing to acknowledge any more.',
};

/**
 * `GET` shows what a link is about, and a button; only `POST`, the button, acknowledges: programs that look into mails follow
 * links, but press no buttons. A link works once. A browser gets a page, a program JSON.
 */
export function acknowledgeRoutes(routes: AcknowledgeRoutes): FastifyPluginAsync {
  const show = shower(routes.site);
  return async (app) => {
    // A browser sends the button like this; what is in it does not matter.
    const form = 'application/x-www-form-urlencoded';
    app.addContentTypeParser(form, { parseAs: 'string' }, (_request, _body, done) => done(null, null));
    app.get<{ Params: { token: string } }>(`${acknowledgePath}:token`, (request, reply) => {
      const found = find(routes, request.params.token);
      if ('status' in found) return show(request, reply, found);
      const { target, wording } = found.incident;
      const text = `${target} ${wording.is}: ${latestCause(found.incident)}. Nothing more is told of it until it is over, to anybody.`;
      return show(request, reply, { status: 200, title: 'Acknowledge', text, button: 'I know of it' });
    });
    app.post<{ Params: { token: string } }>(`${acknowledgePath}:token`, async (request, reply) => {
      const found = find(routes, request.params.token);
      if ('status' in found) return show(request, reply, found);
      try {
        await routes.acknowledge(found.incident.id, `by ${found.recipient}, through the link in a message`);
      } catch (error) {
        if (error instanceof WatchpostError && error.code === 'usage') return show(request, reply, over);
        throw error;
      }
      const text = `Thank you. Nothing more is told of ${found.incident.target} until it is over.`;
      return show(request, reply, { status: 200, title: 'Acknowledged', text });
    });
  };
}

function find(
  routes: AcknowledgeRoutes,
  token: string,
): Shown | { readonly incident: Incident; readonly recipient: string } {
  const said = routes.read(token);
  if (said === null) return unknown;
  const incident = routes.openIncidents().find(({ id }) => id === said.incident);
  if (incident === undefined) return over;
  if (incident.acknowledged === null) return { incident, recipient: said.recipient };
  return { status: 410, title: 'Acknowledged', text: `Somebody knows of it already: ${incident.acknowledged.why}.` };
}

// The address is as good as a password: it is not found, and like that of any page of ours not handed on.
const headers = { 'x-robots-tag': 'noindex' };

function shower(site: Site) {
  return (request: FastifyRequest, reply: FastifyReply, { status, title, text, button }: Shown): FastifyReply => {
    reply.code(status).header('vary', 'accept');
    if (!acceptsPages(request.headers)) {
      return reply.headers(headers).send(status === 200 ? { ok: 1, message: text } : errorBody('not_found', text));
    }
    const form = button === undefined ? nothing : html`<form method="post"><button>${button}</button></form>`;
    const content = html`<h1>${title}</h1><p class="lead">${foreign(text)}</p>${form}`;
    const page = site.page({ title, place: null, content }, headers);
    return reply.headers(page.headers).send(page.body);
  };
}
