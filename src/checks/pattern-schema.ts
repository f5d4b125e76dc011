import { z } from 'zod';
import { messageOf } from '#kernel/errors.ts';
import { type PatternOptions, compile } from './pattern.ts';

/** The schema of a pattern in a configuration. */
export function PatternText(options: PatternOptions = {}) {
  return z
    .string()
    .min(1)
    .max(1_000)
    .superRefine((text, context) => {
      try {
        compile(text, options.lines === true);
      } catch (error) {
        context.addIssue({ code: 'custom', input: text, message: messageOf(error) });
      }
    });
}
