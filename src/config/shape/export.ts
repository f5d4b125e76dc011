import { resolve } from 'node:path';
import { z } from 'zod';
import { FilePath } from '#kernel/file-path.ts';
import { SecretHeaders } from '#kernel/headers.ts';
import type { Secret } from '#kernel/secret.ts';
import { Duration, Size } from '#kernel/unit-schemas.ts';
import { SecretUrl } from '#kernel/url.ts';

const ResultFile = z.strictObject({
  path: FilePath.describe('The file that lines are appended to. Its folder must exist.'),
  max_size: Size({ min: 65_536, max: 1e12 })
    .default(100_000_000)
    .describe('The size at which it is renamed to <path>.1, and a new one is begun.'),
  keep: z.int().min(1).max(1_000).default(5).describe('How many of these older files are kept.'),
});

const ResultWebhook = z.strictObject({
  url: SecretUrl('expected an address to call, such as "https://logs.example.com/watchpost"').describe(
    'The address that lines are posted to; better ${ENV} than the text itself if it is a secret.',
  ),
  secret_file: FilePath.describe('A file with the secret that signs every batch, as messages of webhooks are.'),
  headers: SecretHeaders.describe('Headers to send besides, such as Authorization.'),
  every: Duration({ min: '1s', max: '5m' })
    .default(5_000)
    .describe('How long a line waits for others at the most; 1000 lines are sent at once.'),
});

const attribute = 'expected the name of an attribute, such as "deployment.environment.name"';

const Otlp = z.strictObject({
  url: SecretUrl('expected the address of a collector, such as "http://localhost:4318"').describe(
    'The address that metrics are posted to as OTLP/HTTP with JSON; without a path, /v1/metrics.',
  ),
  headers: SecretHeaders.describe('Headers to send besides, such as Authorization.'),
  every: Duration({ min: '5s', max: '1h' }).default(60_000).describe('How often all metrics are sent.'),
  timeout: Duration({ min: '1s', max: '5m' }).default(10_000).describe('How long one attempt may take.'),
  compression: z.enum(['gzip', 'none']).default('gzip').describe('How bodies are compressed.'),
  resource: z
    .record(z.string().regex(/^[A-Za-z][\w.-]{0,127}$/, { error: attribute }), z.string().max(1_024))
    .default({})
    .describe('Attributes of the resource besides service.name, service.version, service.instance.id and host.name.'),
});

export const Export = z.strictObject({
  results: z
    .strictObject({
      file: ResultFile.optional().describe('A file with a line of JSON for each result. Default: none.'),
      webhook: ResultWebhook.optional().describe('An address that such lines are posted to. Default: none.'),
    })
    .prefault({})
    .describe('Where results are streamed as lines of JSON.'),
  otlp: Otlp.optional().describe(
    'An OpenTelemetry collector that metrics are pushed to, if nothing can scrape them. Default: none.',
  ),
});

/** What is sent elsewhere. Times are milliseconds, sizes bytes, paths absolute. */
export interface ConfiguredExport {
  readonly file: { readonly path: string; readonly maxBytes: number; readonly keep: number } | null;
  readonly webhook: {
    readonly url: Secret;
    readonly secret: Secret | null;
    readonly headers: Readonly<Record<string, Secret>>;
    readonly everyMs: number;
  } | null;
  readonly otlp: {
    readonly url: Secret;
    readonly headers: Readonly<Record<string, Secret>>;
    readonly everyMs: number;
    readonly timeoutMs: number;
    readonly compression: 'gzip' | 'none';
    readonly resource: Readonly<Record<string, string>>;
  } | null;
}

export function resolveExport(
  { results: { file, webhook }, otlp }: z.output<typeof Export>,
  { named }: { readonly named: Readonly<Record<string, Secret>> },
  folder: string,
): ConfiguredExport {
  const sent = ({ url, headers, every }: { url: Secret; headers: Record<string, Secret>; every: number }) => ({
    url,
    headers,
    everyMs: every,
  });
  return {
    file: file === undefined ? null : { path: resolve(folder, file.path), maxBytes: file.max_size, keep: file.keep },
    webhook:
      webhook === undefined ? null : { ...sent(webhook), secret: named['export.results.webhook.secret_file'] ?? null },
    otlp:
      otlp === undefined
        ? null
        : { ...sent(otlp), timeoutMs: otlp.timeout, compression: otlp.compression, resource: otlp.resource },
  };
}
