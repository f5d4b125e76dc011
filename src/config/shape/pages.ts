import { z } from 'zod';
import { Name } from './sections.ts';

const Words = z.string().min(1).max(100);

const StatusPage = z.strictObject({
  title: Words.default('Status').describe('The title of the page.'),
  targets: z
    .record(Name, Words, {
      error: 'expected a map of targets to the names that they have on the page, such as "shop: Web shop"',
    })
    .refine((targets) => Object.keys(targets).length > 0, { error: 'needs at least one target' })
    .describe('The targets that it shows, each with the name that it has there.'),
});
export type StatusPage = z.output<typeof StatusPage>;

export const StatusPages = z
  .record(Name, StatusPage)
  .default({})
  .describe('Pages for everybody, by name: the one named status is /status, any other /status/<name>. Default: none.');
