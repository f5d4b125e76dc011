import { z } from 'zod';
import { always, refuseBoth } from '#kernel/refine.ts';
import { ServerHost, serverOptions } from '../database/options.ts';
import { ports } from './ports.ts';

const Count = z.int().min(0).max(1e9);
const Range = z.strictObject({
  min: Count.optional().describe('The least.'),
  max: Count.optional().describe('The most.'),
});

export const Spec = z
  .strictObject({
    type: z.literal('amqp'),
    host: ServerHost(ports),
    ...serverOptions,
    username: serverOptions.username.unwrap().min(1).default('guest').describe('Who signs in.'),
    vhost: z.string().min(1).max(255).default('/').describe('The virtual host.'),
    queue: z
      .string()
      .min(1)
      .max(255)
      .optional()
      .describe(
        'A queue that must exist; its value is how many messages are ready in it. Default: the check only signs in.',
      ),
    expect: z
      .strictObject({
        messages: Range.optional().describe('How many messages must be ready.'),
        consumers: Range.optional().describe('How many consumers there must be.'),
      })
      .prefault({})
      .describe('What must be so of the queue.'),
  })
  .superRefine((spec, context) => {
    const { queue, expect } = spec;
    refuseBoth(spec, 'password', 'password_file', context);
    if (queue === undefined && (expect.messages !== undefined || expect.consumers !== undefined))
      context.addIssue({ code: 'custom', path: ['queue'], message: 'is missing: something is expected of it' });
  }, always);
export type Spec = z.output<typeof Spec>;
