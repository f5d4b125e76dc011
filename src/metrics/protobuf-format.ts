import { ProtobufWriter } from './protobuf.ts';
import type { FamilyHead, MetricType } from './register.ts';
import { Distribution, type MetricSeries } from './series.ts';
import type { Format } from './text-format.ts';

// The numbers are those of `io.prometheus.client.MetricFamily` in metrics.proto of Prometheus' client_model.
const familyField = { name: 1, help: 2, type: 3, metric: 4 } as const;
const metricField = { label: 1, gauge: 2, counter: 3, histogram: 7 } as const;
const labelField = { name: 1, value: 2 } as const;
const valueField = 1;
const histogramField = {
  count: 1,
  sum: 2,
  bucket: 3,
  schema: 5,
  zeroThreshold: 6,
  zeroCount: 7,
  positiveSpan: 12,
  positiveDelta: 13,
} as const;
const bucketField = { count: 1, bound: 2 } as const;
const spanField = { offset: 1, length: 2 } as const;
const typeNumber: Readonly<Record<MetricType, number>> = { counter: 0, gauge: 1, histogram: 4 };

const nothing = new Uint8Array();

// What lies below counts as 0; that it is there tells an empty native histogram from none.
const zeroThreshold = 2 ** -128;

/**
 * The protobuf format, which alone has native histograms, beside the buckets with bounds. A long family comes in several messages, so
 * that none has to be held whole.
 */
export const protobuf: Format = {
  contentType: 'application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited',
  write(family, series, { isNew }) {
    const shown = series.filter((one) => one instanceof Distribution || one.value !== null);
    if (shown.length === 0) return nothing;
    const writer = new ProtobufWriter();
    for (const one of shown.toReversed()) writeMetric(writer, family, one, isNew(one));
    writer.unsigned(familyField.type, typeNumber[family.type]);
    writer.text(familyField.help, family.help);
    writer.text(familyField.name, family.name);
    writer.length(0);
    return writer.take();
  },
  end: nothing,
};

// Everything is written from its end to its beginning.
function writeMetric(writer: ProtobufWriter, family: FamilyHead, series: MetricSeries, isNew: boolean): void {
  const metric = writer.open();
  const value = writer.open();
  if (series instanceof Distribution) {
    writeHistogram(writer, isNew ? series.empty : series);
    writer.close(metricField.histogram, value);
  } else {
    writer.double(valueField, isNew ? 0 : (series.value ?? Number.NaN));
    writer.close(family.type === 'counter' ? metricField.counter : metricField.gauge, value);
  }
  for (const [name, text] of Object.entries(series.labels).toReversed()) {
    const label = writer.open();
    writer.text(labelField.value, text);
    writer.text(labelField.name, name);
    writer.close(metricField.label, label);
  }
  writer.close(familyField.metric, metric);
}

function writeHistogram(writer: ProtobufWriter, { native, cumulative, sum, count }: Distribution): void {
  const { indexes, counts } = native;
  writer.signedList(
    histogramField.positiveDelta,
    counts.map((one, place) => one - (counts[place - 1] ?? 0)),
  );
  for (const { offset, length } of spansOf(indexes).toReversed()) {
    const span = writer.open();
    writer.unsigned(spanField.length, length);
    writer.signed(spanField.offset, offset);
    writer.close(histogramField.positiveSpan, span);
  }
  writer.unsigned(histogramField.zeroCount, native.zeros);
  writer.double(histogramField.zeroThreshold, zeroThreshold);
  writer.signed(histogramField.schema, native.schema);
  for (const [bound, below] of [...cumulative, [Infinity, count] as const].toReversed()) {
    const bucket = writer.open();
    writer.double(bucketField.bound, bound);
    writer.unsigned(bucketField.count, below);
    writer.close(histogramField.bucket, bucket);
  }
  writer.double(histogramField.sum, sum);
  writer.unsigned(histogramField.count, count);
}

/** Runs of buckets: how far each begins behind the one before, and how long it is. */
function spansOf(indexes: readonly number[]): readonly { readonly offset: number; readonly length: number }[] {
  const spans: { offset: number; length: number }[] = [];
  let end = 0;
  for (const index of indexes) {
    const last = spans.at(-1);
    if (last !== undefined && index === end) last.length += 1;
    else spans.push({ offset: index - end, length: 1 });
    end = index + 1;
  }
  return spans;
}
