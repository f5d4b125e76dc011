import type { FastifyPluginAsync, FastifyReply } from 'fastify';
import { WatchpostError } from '#kernel/errors.ts';
import { type Incident, latestCause } from '#monitor/judge/incident.ts';

/** What the page behind the links in messages needs. */
export interface AcknowledgeRoutes {
  /** What a link says; null where it is none of ours. */
  read(token: string): { readonly incident: string; readonly recipient: string } | null;
  openIncidents(): readonly Incident[];
  /** Throws `usage` where no such incident is open. */
  acknowledge(incident: string, why: string): Promise<Incident>;
}

interface Page {
  readonly status: number;
  readonly title: string;
  readonly text: string;
  /** The words on the button, where there is something to do. */
  readonly button?: string;
}

/** The path of a link to acknowledge. */
export const acknowledgePath = '/acknowledge/';

const unknown: Page = {
  status: 404,
  title: 'Not known',
  text: 'This link is not known here. Please open it as it is in the message.',
};
const over: Page = {
  status: 410,
  title: 'Over',
  text: 'This incident is over: there is nothing to acknowledge any more.',
};

/**
 * `GET` shows what a link is about, and a button; only `POST`, the button, acknowledges: programs that look into mails follow
 * links, but press no buttons. A link works once.
 */
export function acknowledgeRoutes(routes: AcknowledgeRoutes): FastifyPluginAsync {
  return async (app) => {
    // A browser sends the button like this; what is in it does not matter.
    const form = 'application/x-www-form-urlencoded';
    app.addContentTypeParser(form, { parseAs: 'string' }, (_request, _body, done) => done(null, null));
    app.get<{ Params: { token: string } }>(`${acknowledgePath}:token`, (request, reply) => {
      const found = find(routes, request.params.token);
      if ('status' in found) return show(reply, found);
      const { target, wording } = found.incident;
      const text = `${target} ${wording.is}: ${latestCause(found.incident)}. Nothing more is told of it until it is over, to anybody.`;
      return show(reply, { status: 200, title: 'Acknowledge', text, button: 'I know of it' });
    });
    app.post<{ Params: { token: string } }>(`${acknowledgePath}:token`, async (request, reply) => {
      const found = find(routes, request.params.token);
      if ('status' in found) return show(reply, found);
      try {
        await routes.acknowledge(found.incident.id, `by ${found.recipient}, through the link in a message`);
      } catch (error) {
        if (error instanceof WatchpostError && error.code === 'usage') return show(reply, over);
        throw error;
      }
      const text = `Thank you. Nothing more is told of ${found.incident.target} until it is over.`;
      return show(reply, { status: 200, title: 'Acknowledged', text });
    });
  };
}

function find(
  routes: AcknowledgeRoutes,
  token: string,
): Page | { readonly incident: Incident; readonly recipient: string } {
  const said = routes.read(token);
  if (said === null) return unknown;
  const incident = routes.openIncidents().find(({ id }) => id === said.incident);
  if (incident === undefined) return over;
  if (incident.acknowledged === null) return { incident, recipient: said.recipient };
  return { status: 410, title: 'Acknowledged', text: `Somebody knows of it already: ${incident.acknowledged.why}.` };
}

// The address is as good as a password: it is not handed on, not kept and not found.
const headers = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-robots-tag': 'noindex',
  'x-content-type-options': 'nosniff',
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'",
};

function show(reply: FastifyReply, { status, title, text, button }: Page): FastifyReply {
  const form = button === undefined ? '' : `<form method="post"><button>${escaped(button)}</button></form>`;
  return reply.code(status).headers(headers).send(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)}</title>
<style>body { max-width: 40em; margin: 3em auto; padding: 0 1em; font-family: sans-serif } button { font-size: 1.2em; padding: .5em 1em }</style>
</head>
<body>
<h1>${escaped(title)}</h1>
<p>${escaped(text)}</p>
${form}
</body>
</html>
`);
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
