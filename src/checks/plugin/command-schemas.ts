import { z } from 'zod';

const name = /^[a-z][a-z0-9_-]{0,63}$/;
export const PluginName = z
  .string()
  .regex(name, { error: 'expected small letters, digits, "-" and "_", such as "snmp-load"' });

/** The name of a value that a target gives to a plugin. */
export const ValueName = z
  .string()
  .regex(/^[a-z][a-z0-9_]{0,31}$/i, { error: 'expected letters, digits and "_", such as "community"' })
  .refine((text) => !['host', 'address', 'port'].includes(text), {
    error: 'is always there: choose another name',
  });

const Argument = z
  .string()
  .max(4_000)
  .regex(/^[^\0]*$/, { error: 'must not contain NUL' });

const CommandLine = z
  .array(Argument)
  .min(1)
  .max(100)
  .superRefine(([program = ''], context) => {
    if (!/^\/[^{}]+$/.test(program))
      context.addIssue({
        code: 'custom',
        path: [0],
        message: 'expected the absolute path of a program, without placeholders',
      });
  });

/** The programs that a node may run, by the names that targets use. */
export const PluginCommands = z
  .record(PluginName, CommandLine)
  .refine((all) => Object.keys(all).length <= 100, { error: 'at most 100 plugins' })
  .default({})
  .describe(
    'The programs that checks of the type plugin may run here, by name: each a list of the program and its arguments.',
  );
export type PluginCommands = Readonly<Record<string, readonly string[]>>;
