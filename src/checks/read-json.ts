import type { z } from 'zod';

/** The value of a JSON document of the given shape; null where it is none. */
export function readJson<Schema extends z.ZodType>(schema: Schema, content: Buffer): z.output<Schema> | null {
  try {
    return schema.safeParse(JSON.parse(content.toString('utf8'))).data ?? null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
