import { z } from 'zod';
import { type Endpoint, parseEndpoint } from './endpoint.ts';

/**
 * The schema of a `host`: every form that `parseEndpoint` reads, turned into the recorded form by the check type's own
 * `normalise`, which may refuse with a message. The recorded form must normalise to itself.
 */
export function Host(normalise: (endpoint: Endpoint) => string | { readonly message: string }) {
  // Zod asks twice for each text: to refine it, then to overwrite it.
  let last: { readonly text: string; readonly host: string | { readonly message: string } } | null = null;
  const read = (text: string): string | { readonly message: string } => {
    if (last?.text === text) return last.host;
    const parsed = parseEndpoint(text);
    last = { text, host: parsed.ok ? normalise(parsed) : parsed };
    return last.host;
  };
  return z
    .string({ error: 'expected a host name, an address, "name:port" or "scheme://name:port"' })
    .superRefine((text, context) => {
      const host = read(text);
      if (typeof host !== 'string') context.addIssue({ code: 'custom', input: text, message: host.message });
    })
    .overwrite((text) => {
      const host = read(text);
      return typeof host === 'string' ? host : text;
    });
}
