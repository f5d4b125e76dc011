import type { z } from 'zod';
import { FilePath } from '#kernel/file-path.ts';
import { refuseBoth } from '#kernel/refine.ts';
import type { Secret } from '#kernel/secret.ts';
import { SecretUrl } from '#kernel/url.ts';
import { isWebUrl } from '#kernel/web-url.ts';
import type { Contact, ContactProblem } from './channel.ts';

export interface UrlKeys {
  readonly url?: Secret | undefined;
  readonly url_file?: string | undefined;
}

/** The keys of an entry whose address is a secret: it stands in a file, or comes from the environment. */
export function urlKeys(hint: string) {
  return {
    url: SecretUrl(hint)
      .optional()
      .describe('The address that messages are posted to; better ${ENV} than the text itself.'),
    url_file: FilePath.optional().describe('A file that holds the address instead.'),
  };
}

/** Refuses an entry without an address, and one with two. */
export function needsOneUrl(entry: UrlKeys, context: z.RefinementCtx): void {
  refuseBoth(entry, 'url', 'url_file', context);
  if (entry.url === undefined && entry.url_file === undefined) {
    context.addIssue({ code: 'custom', path: ['url'], message: 'is missing: set url or url_file' });
  }
}

/** The address of a contact, as the file holds it or as it was written. */
export function urlOf({ entry, files }: Contact<UrlKeys>): string {
  return (entry.url ?? files['url_file'])?.reveal() ?? '';
}

/** Says so if the file holds something else than an address. */
export function urlProblems(contact: Contact<UrlKeys>): readonly ContactProblem[] {
  if (contact.files['url_file'] === undefined || isWebUrl(urlOf(contact))) return [];
  return [{ path: ['url_file'], message: 'holds no address such as https://host/path' }];
}
