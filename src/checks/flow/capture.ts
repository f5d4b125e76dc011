import { parseJson } from '#kernel/json.ts';
import { messageOf } from '#kernel/errors.ts';
import { decodedBody } from '../http/expect-body.ts';
import type { Body } from '../http/body.ts';
import type { Head } from '../http/head.ts';
import { compilePath, PathError } from '../http/json-path.ts';
import { compilePattern } from '../pattern.ts';
import type { CookieJar } from './cookie-jar.ts';
import type { Capture } from './spec.ts';

export interface CaptureSources {
  readonly head: Head;
  readonly body: Body;
  readonly jar: CookieJar;
  readonly now: number;
}

const longest = 8_000;

/** The value that a capture takes from an answer, or in words why there is none. */
export function captureFrom(
  capture: Capture,
  sources: CaptureSources,
): { readonly value: string } | { readonly lack: string } {
  const found = find(capture, sources);
  if ('lack' in found) return found;
  if (found.value.length > longest) return { lack: `it is longer than ${longest} characters` };
  return found;
}

function find(capture: Capture, { head, body, jar, now }: CaptureSources) {
  if ('header' in capture) {
    const [value] = head.valuesOf(capture.header.toLowerCase());
    return value === undefined ? { lack: `there is no header "${capture.header}"` } : { value };
  }
  if ('cookie' in capture) {
    const value = jar.valueOf(capture.cookie, now);
    return value === null ? { lack: `no cookie "${capture.cookie}" was set` } : { value };
  }
  const text = decodedBody(body, head);
  if ('regex' in capture) {
    const value = compilePattern(capture.regex).capture(text);
    return value === null ? { lack: `nothing matches ${capture.regex}` } : { value };
  }
  return fromJson(capture.json, text);
}

function fromJson(path: string, text: string) {
  const document = parseJson(text);
  if (document === undefined) return { lack: 'the body is not JSON' };
  try {
    const [first] = compilePath(path).valuesIn(document);
    if (typeof first === 'string' || typeof first === 'number' || typeof first === 'boolean')
      return { value: String(first) };
    return { lack: first === undefined ? `${path} is not in the body` : `${path} is no text, number or boolean` };
  } catch (error) {
    if (error instanceof PathError) return { lack: `${path} cannot be read: ${messageOf(error)}` };
    throw error;
  }
}
