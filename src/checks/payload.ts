import { compilePattern } from './pattern.ts';
import type { Payload, AnswerPattern } from './payload-schemas.ts';
import { unescape } from './escapes.ts';

export type { Payload, AnswerPattern } from './payload-schemas.ts';

export function bytesOf(payload: Payload): Buffer {
  if (typeof payload === 'string') return unescape(payload) ?? Buffer.from(payload);
  return 'hex' in payload ? hexBytes(payload.hex) : Buffer.from(payload.base64, 'base64');
}

/** A test for what has been read so far. */
export function matcherOf(expectation: AnswerPattern): (answer: Buffer) => boolean {
  if (typeof expectation === 'object' && 'regex' in expectation) {
    const pattern = compilePattern(expectation.regex, { lines: true });
    return (answer) => pattern.test(answer.toString('utf8'));
  }
  const bytes = bytesOf(expectation);
  return (answer) => answer.includes(bytes);
}

/** Where the first match of an expectation ends: behind the line it is in where it is a pattern. All of it where it has none. */
export function endOfMatch(expectation: AnswerPattern, answer: Buffer): number {
  if (typeof expectation === 'string' || !('regex' in expectation)) {
    const bytes = bytesOf(expectation);
    const start = answer.indexOf(bytes);
    return start === -1 ? answer.length : start + bytes.length;
  }
  const matches = matcherOf(expectation);
  for (let end = answer.indexOf('\n') + 1; end > 0; end = answer.indexOf('\n', end) + 1) {
    if (matches(answer.subarray(0, end))) return end;
  }
  return answer.length;
}

/** An expectation in a sentence. */
export function describeExpectation(expectation: AnswerPattern): string {
  if (typeof expectation === 'string') return JSON.stringify(expectation);
  return 'regex' in expectation ? `/${expectation.regex}/` : `the bytes ${expectation.hex}`;
}

function hexBytes(text: string): Buffer {
  return Buffer.from(text.replaceAll(/[\s:]/g, ''), 'hex');
}
