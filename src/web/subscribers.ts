import type { FastifyPluginAsync } from 'fastify';
import { z } from 'zod';
import type { Subscriber } from '#subscriptions/subscription-store.ts';
import type { Subscriptions } from '#subscriptions/subscriptions.ts';
import { onlyForOperators } from './local.ts';
import { readRequest } from './request-input.ts';

export const SubscriberQuery = z.object({ page: z.string().max(100).optional() });
export const SubscriberRemoval = z.strictObject({ who: z.string().min(1).max(254) });

/** Subscribers of status pages: listed and removed by programs on this machine only. */
export function subscriberRoutes(subscriptions: Pick<Subscriptions, 'list' | 'remove'>): FastifyPluginAsync {
  return async (app) => {
    onlyForOperators(app, 'not_found');
    app.get('/-/subscribers', (request, reply) => {
      const { page } = readRequest(SubscriberQuery, request.query);
      return reply.send({ ok: 1, subscribers: subscriptions.list(page).map(shownSubscriber) });
    });
    app.post('/-/subscribers/remove', (request, reply) => {
      const { who } = readRequest(SubscriberRemoval, request.body);
      return reply.send({ ok: 1, subscribers: subscriptions.remove(who).map(shownSubscriber) });
    });
  };
}

function shownSubscriber({ id, page, address, language, askedAt, confirmedAt }: Subscriber) {
  const timeOf = (at: number) => new Date(at).toISOString();
  return {
    id,
    page,
    address,
    language,
    asked_at: timeOf(askedAt),
    confirmed_at: confirmedAt === null ? null : timeOf(confirmedAt),
  };
}
