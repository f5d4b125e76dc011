import { createHash } from 'node:crypto';
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { errorBody } from '#protocol/errors.ts';
import type { Clock } from '#kernel/clock.ts';
import { singleLine } from '#kernel/text.ts';
import { formatSeconds } from '#kernel/units.ts';
import { monthAt } from '#kernel/zoned-time.ts';
import type { Page } from '#service/ports.ts';
import type { Board } from '../state/board.ts';
import type { Stream } from '../streams.ts';
import { brandFile, brandOf, headOf } from './brand.ts';
import { calendarOf } from './calendar.ts';
import { statusHref } from './links.ts';
import { html } from './markup.ts';
import { uptimeWords } from './overview.ts';
import type { PageSet } from './site.ts';
import { badge, statusContent, statusJson, statusTitle, type StatusValue } from './status.ts';
import { archiveContent } from './status-archive.ts';
import type { PastOutages } from './status-past.ts';
import type { ConfiguredPages, StatusReader } from './status-value.ts';
import { texts } from './texts.ts';

export interface StatusRoutes {
  readonly site: PageSet;
  readonly board: Pick<Board, 'target'>;
  readonly read: StatusReader;
  /** The events of the pages; a view is the name of a page. */
  readonly stream: Stream;
  /** The address that people open, without a slash at its end; null to take that of each request. */
  readonly publicUrl: string | null;
  readonly pages: () => ConfiguredPages;
  readonly outages: Pick<PastOutages, 'ofMonth'>;
  readonly clock: Clock;
}

const keptSeconds = 10;
const cached = { 'cache-control': `public, max-age=${keptSeconds}` };

/** Status pages, their feeds and badges: public, and served from memory, so that they work without the database. */
export function statusRoutes(routes: StatusRoutes): FastifyPluginAsync {
  const { site, board, read, stream, publicUrl, pages, outages, clock } = routes;
  const missing = (reply: FastifyReply) => {
    const { headers, body } = site.problem({ status: 404, code: 'not_found', message: texts.status.missing });
    return reply.code(404).headers(headers).send(body);
  };

  // Drawn once for all who load it while it shows the same.
  const drawn = new WeakMap<StatusValue, { readonly url: string; readonly page: Page }>();

  function drawPage(name: string, value: StatusValue, since: number, url: string): Page {
    return site.page(
      {
        title: statusTitle(value),
        place: 'status',
        content: statusContent(value, statusHref(name), archiveOf(name)),
        refresh: 60,
        live: `/live${statusHref(name)}`,
        since,
        head: headOf(value, statusHref(name), url),
        ...brandOf(name, pages()),
      },
      cached,
    );
  }

  function answer(name: string, form: string, request: FastifyRequest, reply: FastifyReply) {
    // What changes while the page is drawn comes as an event.
    const since = stream.version;
    const value = read(name);
    if (value === null) return missing(reply);
    if (form === '.json') return reply.headers(cached).send(statusJson(value));
    const url = `${publicUrl ?? `${request.protocol}://${request.host}`}${statusHref(name)}`;
    if (form === '.atom') {
      reply.headers(cached).type('application/atom+xml; charset=utf-8');
      return reply.send(feedOf(value, url));
    }
    if (form === '.ics') {
      reply.headers(cached).type('text/calendar; charset=utf-8');
      return reply.send(calendarOf(value, url));
    }
    const last = drawn.get(value);
    const page = last?.url === url ? last.page : drawPage(name, value, since, url);
    drawn.set(value, { url, page });
    return reply.headers(page.headers).send(page.body);
  }

  return async (app) => {
    for (const form of forms) {
      app.get(`/status${form}`, (request, reply) => answer('status', form, request, reply));
    }
    const follow = (name: string, request: FastifyRequest, reply: FastifyReply) =>
      read(name) === null ? missing(reply) : stream.open(request, reply, name);
    const hidden = { exposeHeadRoute: false };
    app.get('/live/status', hidden, (request, reply) => follow('status', request, reply));
    app.get<{ Params: { name: string } }>('/live/status/:name', hidden, (request, reply) =>
      follow(request.params.name, request, reply),
    );
    app.addHook('preClose', async () => stream[Symbol.dispose]());
    app.get<{ Params: { name: string } }>('/status/:name', (request, reply) => {
      const [, name = '', form = ''] = /^(.*?)(\.json|\.atom|\.ics)?$/.exec(request.params.name) ?? [];
      return answer(name, form, request, reply);
    });

    app.get<{ Params: { name: string }; Querystring: unknown }>('/status/:name/history', async (request, reply) => {
      const { name } = request.params;
      const page = Object.hasOwn(pages(), name) ? pages()[name] : undefined;
      if (page === undefined) return missing(reply);
      const now = clock.now();
      const { month = monthAt(now, 'UTC') } = ArchiveQuery.parse(request.query);
      const found = await outages.ofMonth(name, month);
      const value = { title: page.title, month, outages: found, now, path: statusHref(name) };
      const title = `${page.title}: ${texts.status.past}, ${month}`;
      const content = archiveContent(value);
      const { headers, body } = site.page({ title, place: 'status', content, ...brandOf(name, pages()) }, cached);
      return reply.headers(headers).send(body);
    });
    app.get<{ Params: Record<'page' | 'file', string> }>('/brand/:page/:file', async (request, reply) => {
      const file = brandFile(request.params.page, request.params.file, pages());
      if (file === null) return reply.code(404).send(errorBody('not_found', 'there is no such file'));
      return reply.headers(file.headers).send(file.body);
    });

    app.get<{ Params: Record<'page' | 'target' | 'file', string> }>('/badge/:page/:target/:file', (request, reply) => {
      const { page, target, file } = request.params;
      const value = read(page);
      const service = value?.services.find((one) => one.target === target);
      const kind = kinds.find((one) => `${one}.svg` === file);
      if (service === undefined || kind === undefined)
        return reply.code(404).send(errorBody('not_found', 'there is no such badge'));
      const last = board.target(target)?.recent.findLast((one) => one !== null) ?? null;
      const words = {
        state: texts.states[service.status],
        uptime: service.past === null ? '–' : uptimeWords(service.past),
        latency: last === null ? '–' : formatSeconds(last),
      };
      reply.headers(cached).type('image/svg+xml').header('cross-origin-resource-policy', 'cross-origin');
      return reply.send(badge(service.name, words[kind], service.status));
    });
  };
}

const kinds = ['state', 'uptime', 'latency'] as const;
const forms = ['', '.json', '.atom', '.ics'];

const ArchiveQuery = z.object({
  month: z
    .string()
    .regex(/^20\d\d-(?:0[1-9]|1[0-2])$/)
    .optional()
    .catch(undefined),
});

const archiveOf = (name: string): string => `/status/${name}/history`;

// A target's own name is for those who run it; readers of a feed only need the same mark each time.
const markOf = (target: string) => createHash('sha256').update(target).digest('hex').slice(0, 16);

// An entry for each note and each service that is not well; the feed of a quiet day has none.
function feedOf(value: StatusValue, url: string): string {
  const troubled = value.services.filter(({ status }) => status !== 'up' && status !== 'waiting');
  const times = [
    ...troubled.flatMap(({ since }) => (since === null ? [] : [since])),
    ...value.notes.map(({ createdAt }) => createdAt),
  ];
  const updated = new Date(Math.max(0, ...times)).toISOString();
  const notes = value.notes.map(({ id, words, createdAt }) => {
    const at = new Date(createdAt).toISOString();
    return html`<entry><id>${url}#note/${id}</id><title>${singleLine(words, 80)}</title><updated>${at}</updated><content>${words}</content><link href="${url}"/></entry>\n`;
  });
  const maintenance = value.maintenance.map(({ from, to, services }) => {
    const [at, end] = [new Date(from).toISOString(), new Date(to).toISOString()];
    const title = `${texts.status.maintenance}: ${services.join(', ')}, ${at} ${texts.status.to} ${end}`;
    return html`<entry><id>${url}#maintenance/${from}/${to}</id><title>${title}</title><updated>${at}</updated><link href="${url}"/></entry>\n`;
  });
  const entries = troubled.map(({ name, target, status, since }) => {
    const at = new Date(since ?? 0).toISOString();
    return html`<entry><id>${url}#${markOf(target)}/${since ?? 0}</id><title>${name}: ${texts.status.states[status]}</title><updated>${at}</updated><link href="${url}"/></entry>\n`;
  });
  return String(
    html`<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom"><id>${url}</id><title>${value.title}</title><updated>${updated}</updated><author><name>${texts.name}</name></author><link rel="self" href="${url}.atom"/><link href="${url}"/>
${notes}${maintenance}${entries}</feed>
`,
  );
}
