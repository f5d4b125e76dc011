import { createHash } from 'node:crypto';
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { errorBody } from '#protocol/errors.ts';
import { singleLine } from '#kernel/text.ts';
import { formatSeconds } from '#kernel/units.ts';
import type { Clock } from '#kernel/clock.ts';
import type { Board } from '../state/board.ts';
import type { Notes } from '../state/notes.ts';
import type { PastKeeper } from './history-values.ts';
import { html } from './markup.ts';
import { percent } from './overview.ts';
import type { PageSet } from './site.ts';
import { badge, serviceOf, statusContent, statusJson, statusSentence, type StatusValue } from './status.ts';
import { texts } from './texts.ts';

/** By name, what the configuration says about each page. */
export type ConfiguredPages = Readonly<
  Record<string, { readonly title: string; readonly targets: Readonly<Record<string, string>> }>
>;

export interface StatusRoutes {
  readonly site: PageSet;
  readonly board: Board;
  readonly past: PastKeeper;
  readonly pages: () => ConfiguredPages;
  readonly notes: Pick<Notes, 'list'>;
  /** Maintenance and silences that hold or begin soon, those that begin first at the beginning. */
  readonly ahead: () => readonly PlannedWindow[];
  readonly clock: Clock;
  /** The address that people open, without a slash at its end; null where each request tells. */
  readonly publicUrl: string | null;
}

/** A stretch of time in which nobody is told of what begins at some targets. */
interface PlannedWindow {
  readonly targets: 'all' | readonly string[];
  readonly from: number;
  readonly to: number;
}

const mostAhead = 10;
const keptSeconds = 10;
const cached = { 'cache-control': `public, max-age=${keptSeconds}` };

/** Status pages, their feeds and badges: for everybody, and out of memory, so that they are there while the database is not. */
export function statusRoutes({
  site,
  board,
  past,
  pages,
  publicUrl,
  notes,
  ahead,
  clock,
}: StatusRoutes): FastifyPluginAsync {
  async function valueOf(name: string): Promise<StatusValue | null> {
    const page = Object.hasOwn(pages(), name) ? pages()[name] : undefined;
    if (page === undefined) return null;
    const live = new Map(board.targets().map((target) => [target.name, target]));
    // Never waited for: what was is shown as it was known last.
    void past.want([...live.keys()], 0);
    const services = Object.entries(page.targets).map(([target, shown]) =>
      serviceOf(shown, target, live.get(target), past.of(target)),
    );
    const maintenance = ahead()
      .map(({ targets, from, to }) => ({
        from,
        to,
        services: services.flatMap((one) => (targets === 'all' || targets.includes(one.target) ? [one.name] : [])),
      }))
      .filter((one) => one.services.length > 0)
      .slice(0, mostAhead);
    return { title: page.title, services, notes: notes.list(name), maintenance, now: clock.now() };
  }

  const missing = (reply: FastifyReply) => {
    const { headers, body } = site.problem({ status: 404, code: 'not_found', message: texts.status.missing });
    return reply.code(404).headers(headers).send(body);
  };

  async function answer(name: string, form: string, request: FastifyRequest, reply: FastifyReply) {
    const value = await valueOf(name);
    if (value === null) return missing(reply);
    if (form === '.json') return reply.headers(cached).send(statusJson(value));
    if (form === '.atom') {
      const base = publicUrl ?? `${request.protocol}://${request.host}`;
      reply.headers(cached).type('application/atom+xml; charset=utf-8');
      return reply.send(feedOf(value, `${base}${pathOf(name)}`));
    }
    const head = html`<link rel="alternate" type="application/atom+xml" href="${pathOf(name)}.atom">\n`;
    const { headers, body } = site.page(
      {
        title: `${value.title}: ${statusSentence(value)}`,
        place: 'status',
        content: statusContent(value),
        refresh: 60,
        head,
      },
      cached,
    );
    return reply.headers(headers).send(body);
  }

  return async (app) => {
    for (const form of ['', '.json', '.atom']) {
      app.get(`/status${form}`, async (request, reply) => answer('status', form, request, reply));
    }
    app.get<{ Params: { name: string } }>('/status/:name', async (request, reply) => {
      const [, name = '', form = ''] = /^(.*?)(\.json|\.atom)?$/.exec(request.params.name) ?? [];
      return answer(name, form, request, reply);
    });

    app.get<{ Params: Record<'page' | 'target' | 'file', string> }>(
      '/badge/:page/:target/:file',
      async (request, reply) => {
        const { page, target, file } = request.params;
        const value = await valueOf(page);
        const service = value?.services.find((one) => one.target === target);
        const kind = kinds.find((one) => `${one}.svg` === file);
        if (service === undefined || kind === undefined)
          return reply.code(404).send(errorBody('not_found', 'there is no such badge'));
        const last = board.target(target)?.recent.findLast((one) => one !== null) ?? null;
        const words = {
          state: texts.states[service.status],
          uptime: percent(service.past?.uptime ?? null),
          latency: last === null ? '–' : formatSeconds(last),
        };
        reply.headers(cached).type('image/svg+xml').header('cross-origin-resource-policy', 'cross-origin');
        return reply.send(badge(service.name, words[kind], service.status));
      },
    );
  };
}

const kinds = ['state', 'uptime', 'latency'] as const;

const pathOf = (name: string): string => (name === 'status' ? '/status' : `/status/${name}`);

// A target's own name is for those who run it; readers of a feed only need the same mark each time.
const markOf = (target: string) => createHash('sha256').update(target).digest('hex').slice(0, 16);

// An entry for each note and each service that is not well; the feed of a quiet day has none.
function feedOf(value: StatusValue, url: string): string {
  const troubled = value.services.filter(({ status }) => status !== 'up');
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
