import { z } from 'zod';
import { always, refuseBoth } from '#kernel/refine.ts';
import { ServerHost, serverOptions, ValueExpectation } from '../database/options.ts';
import { ports } from './ports.ts';
import { wordsOf } from './words.ts';

// What changes nothing, waits for nothing, and takes time that does not grow with the data (redis.io/commands).
const harmless =
  'ping echo time role info dbsize lastsave get exists type ttl pttl strlen getrange llen lindex scard sismember hlen hget hexists zcard zscore xlen cluster'.split(
    ' ',
  );

const Command = z
  .string()
  .min(1)
  .max(1_000)
  .regex(/^\P{Cc}+$/u, { error: 'must not contain control characters' })
  .superRefine((text, context) => {
    const [name = '', second = ''] = wordsOf(text.toLowerCase());
    if (!harmless.includes(name) || (name === 'cluster' && second !== 'info'))
      context.addIssue({
        code: 'custom',
        message: `may change data or take long; use one of: ${harmless.join(', ').replace('cluster', 'cluster info')}`,
      });
  });

export const Spec = z
  .strictObject({
    type: z.literal('redis'),
    host: ServerHost(ports),
    ...serverOptions,
    database: z.int().min(0).max(65_535).default(0).describe('The number of the database.'),
    command: Command.default('PING').describe(
      'A command that reads, with its arguments: "GET queue:state". Its value is the reply; of a list how many elements it has.',
    ),
    expect: ValueExpectation.prefault({}).describe('What the reply must be.'),
  })
  .superRefine((spec, context) => refuseBoth(spec, 'password', 'password_file', context), always);
export type Spec = z.output<typeof Spec>;
