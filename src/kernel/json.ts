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

/** What a text of JSON says that is of the given shape; null if it is not, or no JSON. */
export function readJson<Schema extends z.ZodType>(schema: Schema, text: string): z.output<Schema> | null {
  return schema.safeParse(parseJson(text)).data ?? null;
}
