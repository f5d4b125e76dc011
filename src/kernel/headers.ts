import { z } from 'zod';
import { Secret } from './secret.ts';

/** Whether the sender of an `Accept` header is a browser that shows what it gets. */
export function acceptsPages({ accept = '' }: { readonly accept?: string | undefined }): boolean {
  return /(?:^|,)\s*text\/html\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i.test(accept) && !/[/+]json\b/i.test(accept);
}

/** HTTP headers of the operator's own; a value may be as good as a password. */
export const SecretHeaders = z
  .record(
    z.string().regex(/^[A-Za-z][\w-]{0,63}$/, { error: 'expected the name of a header' }),
    z
      .string()
      .regex(/^[\t\x20-\x7E]{1,2048}$/, { error: 'expected the value of a header: one line of ASCII' })
      .transform((text) => new Secret(text)),
  )
  .default({});
