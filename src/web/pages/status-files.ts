import type { FastifyPluginAsync } from 'fastify';
import { errorBody } from '#protocol/errors.ts';
import { formatSeconds } from '#kernel/units.ts';
import type { Board } from '../state/board.ts';
import { brandFile } from './brand.ts';
import { uptimeWords } from './overview.ts';
import { createCards, statusCard } from './status-card.ts';
import { badge } from './status-json.ts';
import type { ConfiguredPages, StatusReader } from './status-value.ts';
import { texts } from './texts.ts';

const keptSeconds = 10;
/** Headers of what everyone may see. */
export const cached = { 'cache-control': `public, max-age=${keptSeconds}` };

export interface StatusFiles {
  readonly board: Pick<Board, 'target'>;
  readonly read: StatusReader;
  readonly pages: () => ConfiguredPages;
}

/** The images of status pages: their logos, and badges of their services. */
export function statusFiles({ board, read, pages }: StatusFiles): FastifyPluginAsync {
  const cards = createCards();
  return async (app) => {
    app.get<{ Params: Record<'page' | 'state', string> }>('/card/:page/:state', async (request, reply) => {
      const value = read(request.params.page);
      if (value === null) return reply.code(404).send(errorBody('not_found', 'there is no such picture'));
      // Other sites show it. Its address has the state, so that they ask anew when it is another one.
      reply.headers(cached).type('image/png').header('cross-origin-resource-policy', 'cross-origin');
      return reply.send(cards(statusCard(value)));
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
