import { z } from 'zod';
import { Duration } from '#kernel/unit-schemas.ts';
import { oneOrMore } from '../one-or-more.ts';

const State = z.enum([
  'active',
  'reloading',
  'inactive',
  'failed',
  'activating',
  'deactivating',
  'maintenance',
  'refreshing',
]);
const kinds = 'service|socket|target|device|mount|automount|swap|timer|path|slice|scope';
// systemd.unit(5): "The valid unit names", at most 255 characters.
const unit = new RegExp(String.raw`^(?=.{1,255}$)[a-zA-Z0-9:_.\\@-]+\.(?:${kinds})$`);

export const Spec = z.strictObject({
  type: z.literal('systemd'),
  host: z
    .string()
    .regex(unit, { error: 'expected the full name of a unit, such as "nginx.service"' })
    .describe('The full name of the unit, such as nginx.service or backup.timer.'),
  timeout: Duration({ min: '100ms', max: '60s' }).default(10_000).describe('How long systemd may take to answer.'),
  expect: z
    .strictObject({
      state: oneOrMore(State, 8).default(['active']).describe('The state of the unit; of several any one.'),
      sub: oneOrMore(z.string().regex(/^[a-z-]{1,50}$/, { error: 'expected a word such as "running"' }), 8)
        .optional()
        .describe('The finer state of the unit, such as running or waiting; of several any one. Default: any.'),
    })
    .prefault({})
    .describe('What the unit must be like.'),
});
export type Spec = z.output<typeof Spec>;
