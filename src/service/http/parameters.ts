import type { FastifyInstance, FastifyRequest } from 'fastify';
import { parseJson } from '#kernel/json.ts';
import { ApiFailure } from './failure.ts';

/** What a call was given, in the query and the body alike. */
export interface Parameters {
  /** The first value of a name that is not empty, without spaces around it; null where there is none. */
  one(name: string): string | null;
  /** All values of a name that are not empty, in the query first. */
  all(name: string): readonly string[];
}

/** Reads bodies of every content type; `parametersOf` makes sense of them. */
export function acceptAnyBody(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
}

/** The parameters of a request. Rejects with `bad_request` where the body is not what its content type says. */
export async function parametersOf(request: FastifyRequest): Promise<Parameters> {
  const values = new Map<string, string[]>();
  const add = ([written, text]: Pair) => {
    const value = text.trim();
    if (value === '') return;
    // Some libraries write a list so.
    const key = written.replace(/\[\d*\]$/, '');
    const known = values.get(key);
    if (known === undefined) values.set(key, [value]);
    else known.push(value);
  };
  for (const pair of queryOf(request)) add(pair);
  for (const pair of await bodyOf(request)) add(pair);
  return { all: (name) => values.get(name) ?? [], one: (name) => values.get(name)?.[0] ?? null };
}

/** The query of a request; what cannot be decoded stays as it is. */
export function queryOf({ url }: FastifyRequest): URLSearchParams {
  const start = url.indexOf('?');
  return new URLSearchParams(start === -1 ? '' : url.slice(start + 1));
}

type Pair = readonly [string, string];

async function bodyOf({ body, headers }: FastifyRequest): Promise<readonly Pair[]> {
  if (!Buffer.isBuffer(body) || body.length === 0) return [];
  const type = headers['content-type'] ?? '';
  if (/^application\/(?:[\w.+-]+\+)?json\b/i.test(type)) return jsonPairs(body.toString());
  if (/^multipart\/form-data\b/i.test(type)) return multipartPairs(body, type);
  return [...new URLSearchParams(body.toString())];
}

function jsonPairs(text: string): readonly Pair[] {
  const value = parseJson(text);
  if (value === undefined) throw new ApiFailure('bad_request', 'the body is not JSON as its content type says');
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ApiFailure('bad_request', 'the body is no JSON object');
  }
  return Object.entries(value).flatMap(([key, written]): readonly Pair[] =>
    (Array.isArray(written) ? written : [written]).flatMap((one: unknown): readonly Pair[] =>
      typeof one === 'string' || typeof one === 'number' ? [[key, String(one)]] : [],
    ),
  );
}

async function multipartPairs(body: Buffer, type: string): Promise<readonly Pair[]> {
  try {
    const form = await new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData();
    return [...form].flatMap(([key, value]): readonly Pair[] => (typeof value === 'string' ? [[key, value]] : []));
  } catch (error) {
    if (error instanceof TypeError) throw new ApiFailure('bad_request', 'the body is no form as its content type says');
    throw error;
  }
}
