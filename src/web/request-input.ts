import type { z } from 'zod';
import { describeIssue, isKindError, wordIssue } from '#kernel/schema-words.ts';

/** A request that is not well-formed; the answer says where. */
export class RequestError extends Error {
  override readonly name = 'RequestError';
  readonly statusCode = 400;
}

/** Reads a query or a body; an absent body has no keys. Throws a `RequestError`. */
export function readRequest<Output>(schema: z.ZodType<Output>, written: unknown): Output {
  const value = written ?? {};
  const read = schema.safeParse(value, { error: wordIssue });
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const isWhole = issue?.path.length === 0 && isKindError(issue);
  throw new RequestError(issue === undefined || isWhole ? 'expected a JSON object' : describeIssue(issue, value));
}
