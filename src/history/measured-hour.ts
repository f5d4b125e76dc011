import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { z } from 'zod';
import { readJson } from '#kernel/json.ts';
import { hourMs } from '#kernel/units.ts';
import { measuredStepMs, type MeasuredStep, type Measurement, mostLabels } from './measurements.ts';

// More than this is no hour of ours.
const longestJson = 1_048_576;

/** Of one step of a label: its number in the hour, the least, the greatest, the sum and the number of values. */
const PackedStep = z.tuple([z.number(), z.number(), z.number(), z.number(), z.number()]);
type PackedStep = z.output<typeof PackedStep>;

const MeasuredLabel = z.object({
  label: z.string(),
  unit: z.string(),
  warning: z.string().nullable(),
  critical: z.string().nullable(),
  steps: z.array(PackedStep),
});

const MeasuredHour = z.object({ labels: z.array(MeasuredLabel), omitted: z.number() });
/** The values of a target at a node in an hour. */
export type MeasuredHour = z.output<typeof MeasuredHour>;

/** JSON, compressed as in RFC 1951. */
export function packHour(hour: MeasuredHour): Buffer {
  return deflateRawSync(JSON.stringify(hour));
}

/** Null if it cannot be read. */
export function unpackHour(content: Uint8Array): MeasuredHour | null {
  return readJson(MeasuredHour, inflateRawSync(content, { maxOutputLength: longestJson }).toString());
}

/** An hour with more values. A label whose unit has changed begins anew. */
export function withMeasurement(
  hour: MeasuredHour | null,
  { at, values }: Omit<Measurement, 'target' | 'node'>,
): MeasuredHour {
  const labels = new Map((hour?.labels ?? []).map((one) => [one.label, one]));
  let omitted = hour?.omitted ?? 0;
  const number = Math.floor((at % hourMs) / measuredStepMs);
  for (const { label, value, unit, warning, critical } of values) {
    if (value === null) continue;
    const known = labels.get(label);
    if (known === undefined && labels.size >= mostLabels) {
      omitted += 1;
      continue;
    }
    const steps = known?.unit === unit ? known.steps : [];
    const others = steps.filter(([one]) => one !== number);
    const [, min = value, max = value, sum = 0, count = 0] = steps.find(([one]) => one === number) ?? [];
    const step: PackedStep = [number, Math.min(min, value), Math.max(max, value), sum + value, count + 1];
    labels.set(label, { label, unit, warning, critical, steps: [...others, step].toSorted(([a], [b]) => a - b) });
  }
  return { labels: [...labels.values()], omitted };
}

/** The steps of a label in the hour that begins at `from`. */
export function pointsOf(steps: readonly PackedStep[], from: number): readonly MeasuredStep[] {
  return steps.map(([number, min, max, sum, count]) => {
    return { at: from + number * measuredStepMs, min, mean: sum / count, max };
  });
}
