import { z } from 'zod';
import { Duration } from '#kernel/unit-schemas.ts';
import { ApiTimeout } from '../over-api.ts';
import { Spec } from './spec.ts';

/** Without `ttl` and `dont_fragment`, to which routers of a node's network answer, and `dscp`, which is up to its operator. */
export const apiOptions = z.strictObject({
  count: z.int().min(1).max(10).default(4).describe('How many echo requests are sent.'),
  interval: Duration({ min: '200ms', max: '1s' })
    .default(500)
    .describe('From one echo request to the next, whether it is answered by then or not.'),
  timeout: ApiTimeout(3_000, '10s').describe('How long each echo request waits for its reply.'),
  size: Spec.shape.size,
  family: Spec.shape.family,
});
