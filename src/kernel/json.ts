import type { z } from 'zod';

/** What a text of JSON says; undefined, which JSON cannot say, if it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Whether it is an object of JSON: neither a list nor null. */
export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether it is a list of texts. */
export const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((text) => typeof text === 'string');

/** What a text of JSON says that is of the given shape; null if it is not, or no JSON. */
export function readJson<Schema extends z.ZodType>(schema: Schema, text: string): z.output<Schema> | null {
  return schema.safeParse(parseJson(text)).data ?? null;
}
