import type { FastifyPluginAsync } from 'fastify';
import { z } from 'zod';
import type { ListedDelivery } from '#monitor/judge/delivery.ts';
import type { DeliveryStore } from '#monitor/notify/delivery-store.ts';
import { errorBody } from '#protocol/errors.ts';
import { onlyLocal } from './local.ts';
import { readRequest } from './request-input.ts';

export interface DeliveryDesk {
  readonly store: Pick<DeliveryStore, 'listDeliveries' | 'retryDeliveries'>;
  /** Called after deliveries were made due. */
  readonly wakeOutbox: () => void;
}

export const DeliveryQuery = z.object({
  state: z.enum(['pending', 'sent', 'merged', 'dead']).optional().describe('Those in this state.'),
  limit: z.coerce.number().int().min(1).max(10_000).default(100).describe('How many.'),
});

export const RetryBody = z.union([
  z.strictObject({ ids: z.array(z.int().min(1)).min(1).max(10_000) }),
  z.strictObject({ all: z.literal(true) }),
]);

/** `GET /-/deliveries` lists them, `POST /-/deliveries/retry` tries dead ones again. For programs on this machine only. */
export function deliveryRoutes({ store, wakeOutbox }: DeliveryDesk): FastifyPluginAsync {
  return async (app) => {
    app.addHook('onRequest', onlyLocal());
    app.get('/-/deliveries', (request, reply) => {
      const { state, limit } = readRequest(DeliveryQuery, request.query);
      const found = store.listDeliveries({ limit, ...(state === undefined ? {} : { state }) });
      return reply.send({ ok: 1, deliveries: found.map(shownOf) });
    });
    app.post('/-/deliveries/retry', async (request, reply) => {
      const body = RetryBody.safeParse(request.body);
      if (!body.success)
        return reply.code(400).send(errorBody('bad_request', 'expected {"ids": [1, 2]} or {"all": true}'));
      const retried = store.retryDeliveries('ids' in body.data ? body.data.ids : null);
      if (retried > 0) wakeOutbox();
      return { ok: 1, retried };
    });
  };
}

function shownOf({ createdAt, nextAttemptAt, settledAt, lastError, incidentId, ...rest }: ListedDelivery): object {
  const { id, state, kind, number, target, channel, recipient, attempts, message } = rest;
  return {
    id,
    state,
    kind,
    number,
    target,
    channel,
    recipient,
    attempts,
    message,
    incident: incidentId,
    last_error: lastError,
    created_at: new Date(createdAt).toISOString(),
    next_attempt_at: state === 'pending' ? new Date(nextAttemptAt).toISOString() : null,
    settled_at: settledAt === null ? null : new Date(settledAt).toISOString(),
  };
}
