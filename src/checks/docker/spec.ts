import { z } from 'zod';
import { Duration } from '#kernel/unit-schemas.ts';
import { oneOrMore } from '../one-or-more.ts';

const State = z.enum(['created', 'running', 'paused', 'restarting', 'removing', 'exited', 'dead']);

export const Spec = z.strictObject({
  type: z.literal('docker'),
  host: z
    .string()
    .regex(/^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,199}$/, { error: 'expected the name of a container, such as "shop-db"' })
    .describe('The name or the ID of the container.'),
  timeout: Duration({ min: '100ms', max: '60s' }).default(10_000).describe('How long the engine may take to answer.'),
  expect: z
    .strictObject({
      state: oneOrMore(State, 7).default(['running']).describe('The state of the container; of several any one.'),
      health: z
        .literal('healthy')
        .optional()
        .describe('The container must have a health check, and it must have passed. Default: it must not have failed.'),
    })
    .prefault({})
    .describe('What the container must be like.'),
});
export type Spec = z.output<typeof Spec>;
