import { z } from 'zod';
import { Duration } from '#kernel/unit-schemas.ts';
import { Host } from '../host-schema.ts';
import { PluginName, ValueName } from './command-schemas.ts';

const Value = z
  .string()
  .max(1_000)
  .regex(/^\P{Cc}*$/u, { error: 'must not contain control characters' });

export const Spec = z.strictObject({
  type: z.literal('plugin'),
  host: Host(({ name }) => name).describe('A host name or address: {host}, and as an address {address}.'),
  plugin: PluginName.describe('Which of the programs that the node offers under plugins.'),
  port: z.int().min(1).max(65_535).optional().describe('The port, for plugins with {port}.'),
  values: z
    .record(ValueName, Value)
    .refine((values) => Object.keys(values).length <= 50, { error: 'at most 50 values' })
    .default({})
    .describe('Texts for the other placeholders of the plugin, by name.'),
  timeout: Duration({ min: '100ms', max: '60s' })
    .default(10_000)
    .describe('How long the plugin may run, name resolution and waiting for its turn included.'),
  family: z.literal([4, 6]).optional().describe('4 or 6. Default: IPv4 if the name has it, else IPv6.'),
});
export type Spec = z.output<typeof Spec>;
