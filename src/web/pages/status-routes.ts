import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Clock } from '#kernel/clock.ts';
import { monthAt, monthSpan } from '#kernel/zoned-time.ts';
import type { VisitorLanguage } from '#languages/language.ts';
import type { Languages } from '#languages/languages.ts';
import type { Subscriptions } from '#subscriptions/subscriptions.ts';
import type { Board } from '../state/board.ts';
import type { Notes } from '../state/notes.ts';
import type { Stream } from '../streams.ts';
import { brandOf } from './brand.ts';
import { calendarOf } from './calendar.ts';
import type { PageSet } from './site.ts';
import { archiveContent, archiveHeading } from './status-archive.ts';
import { feedOf } from './status-feed.ts';
import { cached, statusFiles } from './status-files.ts';
import { statusJson } from './status-json.ts';
import type { PastOutages } from './status-past.ts';
import { cachedInLanguage, createPageDrawing } from './status-drawing.ts';
import { pageOfHost } from './own-domain.ts';
import { placeOf } from './status-place.ts';
import type { ConfiguredPages, StatusReader } from './status-value.ts';
import { threadsOf } from './status-threads.ts';
import { subscribeRoutes } from './subscribe-routes.ts';
import { languageChooser, languageVary, rememberLanguage, languageFor } from './visitor-language.ts';
import { missingStatusPage } from './visitor-problem.ts';

export interface StatusRoutes {
  readonly site: PageSet;
  readonly board: Pick<Board, 'target'>;
  readonly read: StatusReader;
  /** The events of the pages; a view is a language and the name of a page. */
  readonly stream: Stream;
  /** The address that people open, without a slash at its end; null to take that of each request. */
  readonly publicUrl: string | null;
  readonly pages: () => ConfiguredPages;
  readonly outages: Pick<PastOutages, 'ofMonth'>;
  readonly notes: Pick<Notes, 'since'>;
  readonly languages: Languages;
  readonly subscriptions: Subscriptions;
  /** Whether a text is an address that mails can be sent to. */
  readonly isMailAddress: (text: string) => boolean;
  readonly clock: Clock;
}

// The view of the stream that shows a page in a language.
const viewOf = (page: string, { code }: VisitorLanguage): string => `${code} ${page}`;

/** Status pages, their feeds and badges: public, and served from memory, so that they work without the database. */
export function statusRoutes(routes: StatusRoutes): FastifyPluginAsync {
  const { site, board, read, stream, publicUrl, pages, outages, notes, languages, clock } = routes;
  const missing = (request: FastifyRequest, reply: FastifyReply) => {
    const { headers, body } = missingStatusPage(site, languageFor(request, languages));
    return reply.code(404).headers(headers).headers(languageVary).send(body);
  };
  const placeFor = (page: string, { protocol, host }: FastifyRequest) =>
    placeOf({
      page,
      domain: Object.hasOwn(pages(), page) ? pages()[page]?.domain : undefined,
      isOnDomain: pageOfHost(host, pages()) === page,
      requested: `${protocol}://${host}`,
      publicUrl,
    });

  const pageOf = createPageDrawing({ site, pages, languages });

  function answer(name: string, form: string, request: FastifyRequest, reply: FastifyReply) {
    // What changes while the page is drawn comes as an event.
    const since = stream.version;
    const value = read(name);
    if (value === null) return missing(request, reply);
    if (form === '.json') return reply.headers(cached).send(statusJson(value));
    const language = languageFor(request, languages);
    const place = placeFor(name, request);
    if (form === '.atom') {
      reply.headers(cachedInLanguage).type('application/atom+xml; charset=utf-8');
      return reply.send(feedOf(value, language, place));
    }
    if (form === '.ics') {
      reply.headers(cached).type('text/calendar; charset=utf-8');
      return reply.send(calendarOf(value, place.url));
    }
    rememberLanguage(request, reply, languages);
    const { headers, body } = pageOf(value, { name, language, place, since });
    return reply.headers(headers).send(body);
  }

  async function answerArchive(name: string, request: FastifyRequest, reply: FastifyReply) {
    const page = Object.hasOwn(pages(), name) ? pages()[name] : undefined;
    if (page === undefined) return missing(request, reply);
    const now = clock.now();
    const { month = monthAt(now, 'UTC') } = ArchiveQuery.parse(request.query);
    const language = languageFor(request, languages);
    const place = placeFor(name, request);
    const found = await outages.ofMonth(name, month);
    const { from, to } = monthSpan(month, 'UTC');
    // A thread belongs to the month in which it began.
    const threads = threadsOf(notes.since(name, from)).filter((thread) => {
      const begun = thread.at(-1);
      return begun !== undefined && begun.thread === null && begun.createdAt < to;
    });
    const services = Object.entries(page.targets).map(([target, shown]) => ({ target, name: shown }));
    const past = { outages: found, notes: threads.flat(), services };
    const value = { title: page.title, month, ...past, now, path: place.home };
    const frame = {
      title: `${page.title}: ${archiveHeading(month, language)}`,
      place: 'status',
      content: archiveContent(value, language),
      language,
      foot: languageChooser(languages, language, `month=${month}`),
      ...brandOf(name, pages(), place.home),
    } as const;
    rememberLanguage(request, reply, languages);
    const { headers, body } = site.page(frame, cachedInLanguage);
    return reply.headers(headers).send(body);
  }

  return async (app) => {
    for (const form of forms) {
      app.get(`/status${form}`, (request, reply) => answer('status', form, request, reply));
    }
    const follow = (name: string, request: FastifyRequest, reply: FastifyReply) =>
      read(name) === null
        ? missing(request, reply)
        : stream.open(request, reply, viewOf(name, languageFor(request, languages)));
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

    app.get<{ Params: { name: string } }>('/status/:name/history', async (request, reply) =>
      answerArchive(request.params.name, request, reply),
    );
    app.get('/status/:name/*', missing);
    await app.register(subscribeRoutes({ ...routes, placeFor, missing }));
    await app.register(statusFiles({ board, read, pages }));
  };
}

const forms = ['', '.json', '.atom', '.ics'];

const ArchiveQuery = z.object({
  month: z
    .string()
    .regex(/^20\d\d-(?:0[1-9]|1[0-2])$/)
    .optional()
    .catch(undefined),
});
