import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { z } from 'zod';

// The messages of opentelemetry-proto, collector/metrics/v1/metrics_service.proto and metrics/v1/metrics.proto, as OTLP 1.10 encodes
// them in JSON. Receivers ignore unknown names; a test must not send any.
const Uint64 = z.string().regex(/^\d{1,20}$/);
const Double = z.union([z.number(), z.enum(['NaN', 'Infinity', '-Infinity'])]);
const KeyValue = z.strictObject({ key: z.string().min(1), value: z.strictObject({ stringValue: z.string() }) });
const Attributes = z
  .array(KeyValue)
  .refine((all) => new Set(all.map(({ key }) => key)).size === all.length, { error: 'keys must be unique' });
const point = { attributes: Attributes, startTimeUnixNano: Uint64, timeUnixNano: Uint64 };
const NumberPoint = z.strictObject({ ...point, asDouble: Double });
const HistogramPoint = z
  .strictObject({
    ...point,
    count: Uint64,
    sum: Double,
    bucketCounts: z.array(Uint64),
    explicitBounds: z.array(z.number()),
  })
  .refine(({ bucketCounts, explicitBounds }) => bucketCounts.length === explicitBounds.length + 1)
  .refine(({ count, bucketCounts }) => Number(count) === bucketCounts.reduce((sum, one) => sum + Number(one), 0))
  .refine(({ explicitBounds }) => explicitBounds.every((one, at) => at === 0 || one > (explicitBounds[at - 1] ?? one)));
const head = { name: z.string().min(1), description: z.string(), unit: z.string().optional() };
const cumulative = { aggregationTemporality: z.literal(2) };
const Metric = z.union([
  z.strictObject({ ...head, gauge: z.strictObject({ dataPoints: z.array(NumberPoint).min(1) }) }),
  z.strictObject({
    ...head,
    sum: z.strictObject({ ...cumulative, isMonotonic: z.literal(true), dataPoints: z.array(NumberPoint).min(1) }),
  }),
  z.strictObject({ ...head, histogram: z.strictObject({ ...cumulative, dataPoints: z.array(HistogramPoint).min(1) }) }),
]);
const ScopeMetrics = z.strictObject({
  scope: z.strictObject({ name: z.string(), version: z.string() }),
  metrics: z.array(Metric).min(1),
});
const ResourceMetrics = z.strictObject({
  resource: z.strictObject({ attributes: Attributes }),
  scopeMetrics: z.array(ScopeMetrics).length(1),
});
export const ExportMetricsServiceRequest = z.strictObject({ resourceMetrics: z.array(ResourceMetrics).length(1) });

interface OtlpAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A receiver of OTLP/HTTP with JSON that accepts nothing but messages of the published shapes. */
export interface OtlpReceiver extends AsyncDisposable {
  readonly url: string;
  readonly headers: IncomingHttpHeaders[];
  readonly requests: z.output<typeof ExportMetricsServiceRequest>[];
  readonly problems: string[];
  /** What it answers to the next requests, the first first; then it accepts them. */
  readonly answers: OtlpAnswer[];
}

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const headers: IncomingHttpHeaders[] = [];
  const requests: z.output<typeof ExportMetricsServiceRequest>[] = [];
  const problems: string[] = [];
  const answers: OtlpAnswer[] = [];
  const server = createServer((request, response) => {
    void buffer(request).then((bytes) => {
      headers.push(request.headers);
      const isRight = request.method === 'POST' && request.url === '/v1/metrics';
      if (!isRight || request.headers['content-type'] !== 'application/json')
        problems.push(`${request.method} ${request.url} ${request.headers['content-type']}`);
      const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes;
      const parsed = ExportMetricsServiceRequest.safeParse(JSON.parse(body.toString('utf8')));
      if (parsed.success) requests.push(parsed.data);
      else problems.push(parsed.error.message);
      const answer = answers.shift() ?? { status: parsed.success ? 200 : 400 };
      response
        .writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers })
        .end(answer.body ?? '{}');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    headers,
    requests,
    problems,
    answers,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
