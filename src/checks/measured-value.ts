import { z } from 'zod';

const Limit = z.string().max(64).nullable();

/** A value that the target, or who looked at it, gives a name. */
export const MeasuredValue = z.strictObject({
  label: z.string().min(1).max(64),
  /** Null if it is not known. */
  value: z.number().nullable(),
  /** As it was given, such as `ms`, `KB`, `%`, or `c` for a counter; empty for a plain number. */
  unit: z.string().max(16),
  /** Outside of which range it warns, and is critical, as a threshold range; null if it was not said. */
  warning: Limit,
  critical: Limit,
  min: z.number().nullable(),
  max: z.number().nullable(),
});
export type MeasuredValue = z.output<typeof MeasuredValue>;
