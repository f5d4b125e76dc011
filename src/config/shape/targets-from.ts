import { z } from 'zod';
import { FilePath } from '#kernel/files.ts';
import { SecretHeaders } from '#kernel/headers.ts';
import { always, refuseBoth } from '#kernel/refine.ts';
import { Duration } from '#kernel/units.ts';
import { SecretUrl } from '#kernel/url.ts';
import { Name } from './sections.ts';
import { Names } from './target.ts';

const Ask = z
  .strictObject({
    every: Duration({ min: '1s', max: '1d' }).default(60_000).describe('How often the address is asked.'),
    token_file: FilePath.optional().describe('A file that holds a bearer token. Default: none is sent.'),
    ca_file: FilePath.optional().describe('A file of PEM certificates to trust instead of the usual authorities.'),
    headers: SecretHeaders.describe('Headers to send besides.'),
  })
  .describe('How the address is asked.');

/** Where targets come from that stand elsewhere; the other keys are those of a target. */
export const TargetSource = z
  .looseObject({
    files: Names('files')
      .refine((files) => files.length > 0, { error: 'expected a file, or a list of files' })
      .optional()
      .describe("Files in the form of Prometheus' file_sd, JSON or YAML; a name may hold *."),
    url: SecretUrl('expected an address that lists targets, such as "https://discovery.example.com/targets"')
      .optional()
      .describe("Instead of files: an address that answers in the form of Prometheus' http_sd."),
    ask: Ask.prefault({}),
    at_most: z.int().min(1).max(100_000).default(1_000).describe('How many targets there may be in them.'),
  })
  .superRefine((source, context) => {
    if (source.files === undefined && source.url === undefined)
      context.addIssue({ code: 'custom', path: ['files'], message: 'is missing: set files or url' });
    refuseBoth(source, 'files', 'url', context);
  }, always);
export type TargetSource = z.output<typeof TargetSource>;

/** The keys of a source that are not those of its targets. */
export const sourceKeys: readonly string[] = Object.keys(TargetSource.shape);

export const TargetsFrom = z
  .record(Name, TargetSource)
  .default({})
  .describe(
    'Targets that stand in files of their own or are listed at an address, by name: with the keys of a target, but without host.',
  );
