import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FamilyHead, Register, ShownFamily } from './register.ts';
import { type Distribution, type MetricSeries, Sample, type SeriesLabels } from './series.ts';

// The messages of opentelemetry-proto (`metrics/v1/metrics.proto`) as OTLP/HTTP encodes them in JSON: names in lowerCamelCase, enums as
// numbers, 64-bit integers as decimal strings.

/** The body of a request that carries metrics. */
export interface OtlpRequest {
  readonly body: string;
  readonly points: number;
}

/** What all metrics are about, and since when counters count; milliseconds since the epoch. */
export interface OtlpSource {
  readonly resource: Readonly<Record<string, string>>;
  readonly version: string;
  readonly startedAt: number;
  readonly now: number;
}

// AGGREGATION_TEMPORALITY_CUMULATIVE
const cumulative = 2;
// About a mebibyte: collectors refuse more than twenty.
const mostPoints = 4_000;
const perTurn = 200;

const units: readonly (readonly [RegExp, string])[] = [
  [/_seconds(?:_total)?$/, 's'],
  [/_bytes(?:_total)?$/, 'By'],
  [/_ratio$/, '1'],
];

/** All metrics as requests of a bounded size. Other work gets its turn after every 200 series. */
export async function* otlpRequests(
  register: Register,
  own: { families(): Promise<readonly ShownFamily[]> },
  source: OtlpSource,
): AsyncGenerator<OtlpRequest> {
  let metrics: object[] = [];
  let points = 0;
  let since = 0;
  const ofProgram = await own.families();
  for (const family of [...register.families, ...ofProgram]) {
    let dataPoints: object[] = [];
    for (const series of family) {
      const point = pointOf(series, source);
      if (point === null) continue;
      dataPoints.push(point);
      points += 1;
      since += 1;
      if (since >= perTurn) {
        since = 0;
        await nextTurn();
      }
      if (points < mostPoints) continue;
      yield requestOf([...metrics, metricOf(family, dataPoints)], points, source);
      [metrics, dataPoints, points] = [[], [], 0];
    }
    if (dataPoints.length > 0) metrics.push(metricOf(family, dataPoints));
  }
  if (points > 0) yield requestOf(metrics, points, source);
}

function requestOf(metrics: readonly object[], points: number, { resource, version }: OtlpSource): OtlpRequest {
  const scopeMetrics = [{ scope: { name: 'watchpost', version }, metrics }];
  return {
    body: JSON.stringify({ resourceMetrics: [{ resource: { attributes: attributesOf(resource) }, scopeMetrics }] }),
    points,
  };
}

function metricOf({ name, help, type }: FamilyHead, dataPoints: readonly object[]): object {
  const unit = units.find(([pattern]) => pattern.test(name))?.[1];
  const head = { name, description: help, ...(unit !== undefined && { unit }) };
  if (type === 'gauge') return { ...head, gauge: { dataPoints } };
  if (type === 'histogram') return { ...head, histogram: { dataPoints, aggregationTemporality: cumulative } };
  return { ...head, sum: { dataPoints, aggregationTemporality: cumulative, isMonotonic: true } };
}

function pointOf(series: MetricSeries, { startedAt, now }: OtlpSource): object | null {
  const times = { startTimeUnixNano: nanoseconds(startedAt), timeUnixNano: nanoseconds(now) };
  const attributes = attributesOf(series.labels);
  if (series instanceof Sample)
    return series.value === null ? null : { attributes, ...times, asDouble: doubleOf(series.value) };
  return { attributes, ...times, ...bucketsOf(series) };
}

function bucketsOf({ cumulative: below, sum, count }: Distribution): object {
  const counts = below.map(([, total], place) => total - (below[place - 1]?.[1] ?? 0));
  const beyond = count - (below.at(-1)?.[1] ?? 0);
  return {
    count: String(count),
    sum: doubleOf(sum),
    bucketCounts: [...counts, beyond].map(String),
    explicitBounds: below.map(([bound]) => bound),
  };
}

function attributesOf(labels: SeriesLabels): readonly object[] {
  return Object.entries(labels).map(([key, value]) => ({ key, value: { stringValue: value } }));
}

const nanoseconds = (ms: number) => `${Math.floor(ms)}000000`;

// JSON has no such numbers; protobuf's mapping writes them as texts.
function doubleOf(value: number): number | string {
  if (Number.isFinite(value)) return value;
  return Number.isNaN(value) ? 'NaN' : value > 0 ? 'Infinity' : '-Infinity';
}
