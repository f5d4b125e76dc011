import { isIP } from 'node:net';
import { z } from 'zod';
import { parseEndpoint } from '#checks/index.ts';
import { FilePath } from '#kernel/files.ts';
import { SecretHeaders } from '#kernel/headers.ts';
import { always, refuseBoth } from '#kernel/refine.ts';
import { Duration } from '#kernel/units.ts';
import { SecretUrl } from '#kernel/url.ts';
import { Name } from './sections.ts';
import { Names } from './target.ts';

const Ask = z
  .strictObject({
    every: Duration({ min: '1s', max: '1d' })
      .default(60_000)
      .describe('How often the address or the name server is asked.'),
    token_file: FilePath.optional().describe('A file that holds a bearer token. Default: none is sent.'),
    ca_file: FilePath.optional().describe('A file of PEM certificates to trust instead of the usual authorities.'),
    headers: SecretHeaders.describe('Headers to send besides.'),
    server: z
      .string()
      .refine(isServer, { error: 'expected the address of a name server, such as "127.0.0.1:8600"' })
      .optional()
      .describe("For srv: the name server to ask. Default: this machine's."),
  })
  .describe('How the address or the name server is asked.');

function isServer(written: string): boolean {
  const parsed = parseEndpoint(written);
  return parsed.ok && isIP(parsed.name) !== 0 && parsed.scheme === null && parsed.path === null;
}

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
    srv: z
      .string()
      .max(253)
      .regex(/^[\w-]{1,63}(?:\.[\w-]{1,63})+\.?$/, {
        error: 'expected the name of SRV records, such as "_http._tcp.example.com"',
      })
      .optional()
      .describe('Instead of files: a name whose SRV records (RFC 2782) are the hosts and ports.'),
    ask: Ask.prefault({}),
    at_most: z.int().min(1).max(100_000).default(1_000).describe('How many targets there may be in them.'),
  })
  .superRefine((source, context) => {
    if (source.files === undefined && source.url === undefined && source.srv === undefined)
      context.addIssue({ code: 'custom', path: ['files'], message: 'is missing: set files, url or srv' });
    refuseBoth(source, 'files', 'url', context);
    refuseBoth(source, 'files', 'srv', context);
    refuseBoth(source, 'url', 'srv', context);
    refuseForeignKeys(source, context);
  }, always);
export type TargetSource = z.output<typeof TargetSource>;

const keysOverHttp = ['token_file', 'ca_file', 'headers'] as const;

function refuseForeignKeys({ srv, ask }: Pick<TargetSource, 'srv' | 'ask'>, context: z.RefinementCtx): void {
  const refuse = (key: string, message: string) => context.addIssue({ code: 'custom', path: ['ask', key], message });
  if (srv === undefined && ask?.server !== undefined) refuse('server', 'is for srv only');
  if (srv === undefined) return;
  for (const key of keysOverHttp) {
    const value = ask?.[key];
    const isSet = typeof value === 'object' ? Object.keys(value).length > 0 : value !== undefined;
    if (isSet) refuse(key, 'is for url only: srv is asked by DNS');
  }
}

/** The keys of a source that are not those of its targets. */
export const sourceKeys: readonly string[] = Object.keys(TargetSource.shape);

export const TargetsFrom = z
  .record(Name, TargetSource)
  .default({})
  .describe(
    'Targets that stand in files of their own, or are listed at an address or in DNS, by name: with the keys of a target, but without host.',
  );
