import { z } from 'zod';
import { FilePath } from '#kernel/file-path.ts';
import { WebUrl } from '#kernel/url.ts';
import { Name } from './sections.ts';

const Words = z.string().min(1).max(100);

const StatusPage = z
  .strictObject({
    title: Words.default('Status').describe('The title of the page.'),
    targets: z
      .record(Name, Words, {
        error: 'expected a map of targets to the names that they have on the page, such as "shop: Web shop"',
      })
      .refine((targets) => Object.keys(targets).length > 0, { error: 'needs at least one target' })
      .describe('The targets that it shows, each with the name that it has there.'),
    groups: z
      .record(Words, z.array(Name).min(1), {
        error: 'expected a map of headings to targets, such as "Shop: [web, api]"',
      })
      .default({})
      .describe('Headings over some of its targets. Targets in no group come first.'),
    logo_file: FilePath.optional().describe(
      'An image of at most 256 KiB to show beside the title: SVG, PNG, JPEG or WebP.',
    ),
    color: z
      .string()
      .regex(/^#[0-9a-fA-F]{6}$/, { error: 'expected a color such as "#0b6e6e"' })
      .optional()
      .describe('The color of links. Default: that of Watchpost.'),
    links: z
      .record(Words, WebUrl('expected a URL, such as "https://example.com/help"'))
      .default({})
      .describe('Links in its header, by their text.'),
    subscribe: z
      .boolean()
      .default(false)
      .describe('Whether visitors can subscribe to it by mail. Needs "smtp", and "http.public_url" or "domain".'),
    domain: z
      .string()
      .toLowerCase()
      .regex(/^(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/, {
        error: 'expected a host name, such as "status.example.com"',
      })
      .optional()
      .describe('The host name at which this page is at /, and nothing else of Watchpost. Default: none.'),
  })
  .superRefine(({ targets, groups }, context) => {
    const seen = new Set<string>();
    for (const [group, names] of Object.entries(groups)) {
      for (const [index, name] of names.entries()) {
        const say = (message: string) => context.addIssue({ code: 'custom', path: ['groups', group, index], message });
        if (!Object.hasOwn(targets, name)) say(`"${name}" is not one of the targets of this page`);
        if (seen.has(name)) say(`"${name}" is in another group already`);
        seen.add(name);
      }
    }
  });
export type StatusPage = z.output<typeof StatusPage>;

/** The logo of a status page. */
export interface LogoImage {
  /** Its media type. */
  readonly type: string;
  readonly bytes: Buffer;
  /** Of its content, 12 hexadecimal digits: another image has another address. */
  readonly digest: string;
}

export const StatusPages = z
  .record(Name, StatusPage)
  .superRefine((pages, context) => {
    const seen = new Map<string, string>();
    for (const [name, { domain }] of Object.entries(pages)) {
      const other = domain === undefined ? undefined : seen.get(domain);
      if (other !== undefined)
        context.addIssue({
          code: 'custom',
          path: [name, 'domain'],
          message: `is the domain of the page "${other}" already`,
        });
      if (domain !== undefined) seen.set(domain, name);
    }
  })
  .default({})
  .describe('Pages for everybody, by name: the one named status is /status, any other /status/<name>. Default: none.');
