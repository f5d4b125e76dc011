import { z } from 'zod';

/**
 * A list whose only value may stand without a list around it; read as a list, and written without one if it has one
 * value, as older versions write it.
 */
export function oneOrMore<Value>(value: z.ZodType<Value, Value>, most: number) {
  return z.codec(
    z.union([value, z.array(value).min(1).max(most)], { error: 'expected a value or a list of values' }),
    z.array(value),
    {
      decode: (written) => (isList(written) ? written : [written]),
      encode: (values) => (values.length === 1 && values[0] !== undefined ? values[0] : values),
    },
  );
}

function isList<Value>(written: Value | Value[]): written is Value[] {
  return Array.isArray(written);
}
