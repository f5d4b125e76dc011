import { z } from 'zod';
import { Secret } from './secret.ts';
import { isUrl, type UrlForm, webForm } from './web-url.ts';

/** A URL of this form. `hint` says what was expected. */
export function Url(hint: string, form: UrlForm) {
  return z
    .string({ error: hint })
    .max(2_048)
    .refine((text) => isUrl(text, form), { error: hint });
}

/** An address to call over HTTP. */
export const WebUrl = (hint: string) => Url(hint, webForm);

/** An address over HTTP that paths are put behind, or that people see: without user, query and fragment. */
export const BareWebUrl = (hint: string) => Url(hint, { ...webForm, bare: true });

/** An address to call over HTTP, which may be as good as a password. */
export const SecretUrl = (hint: string) => WebUrl(hint).transform((text) => new Secret(text));

/**
 * The host in `host`, `host:port`, `[IPv6]:port` or `scheme://[user@]host[:port][/path]`, in lower case; an IPv6 address keeps its
 * brackets, as a URL writes it (RFC 3986, section 3.2.2). An empty text if there is none.
 */
export function hostIn(text: string): string {
  const authority = text.replace(/^[a-z][a-z0-9+.-]*:\/\//i, '').split(/[/?#]/)[0] ?? '';
  return authority.replace(/^(?:.*@)?(\[[^\]]*\]|[^:]*)(?::\d+)?$/, '$1').toLowerCase();
}
