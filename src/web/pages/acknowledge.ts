import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { WatchpostError } from '#kernel/errors.ts';
import { acceptsPages } from '#kernel/headers.ts';
import {
  type RecipientAddress,
  type Incident,
  latestCause,
  nameInSentences,
  sentenceStart,
} from '#monitor/judge/incident.ts';
import { errorBody } from '#protocol/errors.ts';
import { foreign, html, nothing } from './markup.ts';
import type { PageSet } from './site.ts';

/** What a link is about, and whose it is. */
export type AcknowledgeLink = RecipientAddress & ({ readonly incident: string } | { readonly message: string });

/** What the page behind the links in messages needs. */
export interface AcknowledgeRoutes {
  readonly site: PageSet;
  /** What a link says; null if it is none of ours. */
  read(token: string): AcknowledgeLink | null;
  openIncidents(): readonly Incident[];
  /** The ids of the open incidents that a message was about. */
  incidentsOf(message: string, to: RecipientAddress): readonly string[];
  /** Throws `usage` if no such incident is open. */
  acknowledge(incident: string, why: string): Promise<Incident>;
}

interface AcknowledgePage {
  readonly status: 200 | 404 | 410;
  readonly title: string;
  readonly text: string;
  /** The words on the button, if there is something to do. */
  readonly button?: string;
}

/** The path of a link to acknowledge. */
export const acknowledgePath = '/acknowledge/';

const unknown: AcknowledgePage = {
  status: 404,
  title: 'Not known',
  text: 'This link is not valid. Open it exactly as it is in the message.',
};
const over: AcknowledgePage = {
  status: 410,
  title: 'Over',
  text: 'This incident is over; there is nothing to acknowledge.',
};

/**
 * `GET` shows what a link is about, and a button; only `POST`, the button, acknowledges: programs that look into mails follow
 * links, but press no buttons. A link works once. A browser gets a page, a program JSON.
 */
export function acknowledgeRoutes(routes: AcknowledgeRoutes): FastifyPluginAsync {
  const show = createRenderer(routes.site);
  return async (app) => {
    // A browser sends the button like this; what is in it does not matter.
    const form = 'application/x-www-form-urlencoded';
    app.addContentTypeParser(form, { parseAs: 'string' }, (_request, _body, done) => done(null, null));
    app.get<{ Params: { token: string } }>(`${acknowledgePath}:token`, (request, reply) => {
      const found = find(routes, request.params.token);
      if ('status' in found) return show(request, reply, found);
      const about = found.incidents.length === 1 ? 'it' : 'them';
      const text = `${inWords(found.incidents)} No more notifications are sent about ${about} until ${untilOver(found)}.`;
      return show(request, reply, { status: 200, title: 'Acknowledge', text, button: 'I know of it' });
    });
    app.post<{ Params: { token: string } }>(`${acknowledgePath}:token`, async (request, reply) => {
      const found = find(routes, request.params.token);
      if ('status' in found) return show(request, reply, found);
      if ((await acknowledgeAll(routes, found)) === 0) return show(request, reply, over);
      const names = [...new Set(found.incidents.map(nameInSentences))];
      const text = `Thank you. No more notifications are sent about ${named(names)} until ${untilOver(found)}.`;
      return show(request, reply, { status: 200, title: 'Acknowledged', text });
    });
  };
}

// They share a transaction, and other requests are answered in between.
const mostAtOnce = 100;

/** How many were acknowledged; the others are over by now. */
async function acknowledgeAll(
  routes: Pick<AcknowledgeRoutes, 'acknowledge'>,
  { incidents, recipient }: AcknowledgedIncidents,
): Promise<number> {
  const acknowledgeOne = async ({ id }: Incident): Promise<number> => {
    try {
      await routes.acknowledge(id, `by ${recipient}, through the link in a message`);
      return 1;
    } catch (error) {
      if (error instanceof WatchpostError && error.code === 'usage') return 0;
      throw error;
    }
  };
  let done = 0;
  for (let from = 0; from < incidents.length; from += mostAtOnce) {
    const some = await Promise.all(incidents.slice(from, from + mostAtOnce).map(acknowledgeOne));
    done += some.reduce((sum, one) => sum + one, 0);
  }
  return done;
}

const untilOver = ({ incidents }: AcknowledgedIncidents) =>
  incidents.length === 1 ? 'it is resolved' : 'they are resolved';

const mostNamed = 10;

function named(names: readonly string[]): string {
  const more = names.length - mostNamed;
  return [...names.slice(0, mostNamed), ...(more > 0 ? [`${more} more`] : [])].join(', ');
}

function inWords(incidents: readonly Incident[]): string {
  const [first] = incidents;
  if (first !== undefined && incidents.length === 1) {
    return `${sentenceStart(first)} ${first.wording.is}: ${latestCause(first)}.`;
  }
  return `${incidents.length} incidents: ${named(incidents.map((one) => `${nameInSentences(one)} ${one.wording.is}`))}.`;
}

interface AcknowledgedIncidents {
  /** Open and not acknowledged; at least one. */
  readonly incidents: readonly Incident[];
  readonly recipient: string;
}

function find(routes: AcknowledgeRoutes, token: string): AcknowledgePage | AcknowledgedIncidents {
  const link = routes.read(token);
  if (link === null) return unknown;
  const ids = new Set('incident' in link ? [link.incident] : routes.incidentsOf(link.message, link));
  const open = routes.openIncidents().filter(({ id }) => ids.has(id));
  const [first] = open;
  if (first === undefined) return over;
  const incidents = open.filter(({ acknowledged }) => acknowledged === null);
  if (incidents.length > 0) return { incidents, recipient: link.recipient };
  return {
    status: 410,
    title: 'Acknowledged',
    text: `Acknowledged already: ${first.acknowledged?.why ?? ''}.`,
  };
}

// The address is as good as a password: it is not found, and like that of any page of ours not handed on.
const headers = { 'x-robots-tag': 'noindex' };

function createRenderer(site: PageSet) {
  return (
    request: FastifyRequest,
    reply: FastifyReply,
    { status, title, text, button }: AcknowledgePage,
  ): FastifyReply => {
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
