import { parseJson } from '#kernel/json.ts';
import { messageOf } from '#kernel/errors.ts';
import { singleLine } from '#kernel/text.ts';
import { originallyDown, type OriginalJudge, originallyUp, type OriginalVerdict } from '../original.ts';
import type { KumaMonitor } from './schema.ts';

/**
 * How Uptime Kuma 2 judges a response to an HTTP monitor (server/model/monitor.js, `checkStatusCode` in server/util-server.js and
 * `evaluateJsonQuery` in src/util.ts), with the JSONata that it uses. Undefined for monitors of other types.
 */
export function judgeOfMonitor(monitor: KumaMonitor): OriginalJudge | undefined {
  const judgeBody = bodyJudges[monitor.type ?? ''];
  if (judgeBody === undefined) return undefined;
  return async (response) => {
    if (response === null || response.body === null) return originallyDown('no response');
    if (!isAccepted(response.status, monitor.accepted_statuscodes))
      return originallyDown(`status ${response.status} is not accepted`);
    return judgeBody(parsedBody(response.body), monitor);
  };
}

type BodyJudge = (data: unknown, monitor: KumaMonitor) => Promise<OriginalVerdict> | OriginalVerdict;

const bodyJudges: Readonly<Record<string, BodyJudge>> = {
  http: () => originallyUp,
  keyword: judgeKeyword,
  'json-query': judgeQuery,
};

function isAccepted(status: number, codes: readonly string[]): boolean {
  return (codes.length === 0 ? ['200-299'] : codes).some((range) => {
    const [from = Number.NaN, to = from] = range.split('-').map((code) => Number.parseInt(code, 10));
    return status >= from && status <= to;
  });
}

// As axios does: whatever is JSON is parsed, whatever its media type.
function parsedBody(body: Buffer): unknown {
  const text = new TextDecoder().decode(body);
  return parseJson(text) ?? (text.trim() === 'null' ? null : text);
}

function judgeKeyword(data: unknown, { keyword = '', invert_keyword: isInverted }: KumaMonitor): OriginalVerdict {
  const text = typeof data === 'string' ? data : JSON.stringify(data);
  if (text.includes(keyword) !== isInverted) return originallyUp;
  return originallyDown(`the keyword ${JSON.stringify(keyword)} is ${isInverted ? 'in' : 'not in'} the body`);
}

// A query that never ends would hold up all others.
const limits = { timeout: 2_000, stack: 500 };

async function judgeQuery(
  data: unknown,
  { json_path: path, json_path_operator: operator = '==', expected_value: expected = '' }: KumaMonitor,
): Promise<OriginalVerdict> {
  const comparison = comparisons[operator];
  if (comparison === undefined) return originallyDown(`${operator} is no operator`);
  const { default: jsonata } = await import('jsonata');
  const document = typeof data === 'string' ? (parseJson(data) ?? data) : data;
  try {
    const value: unknown = path === undefined ? document : await jsonata(path, limits).evaluate(document);
    if (value === null || value === undefined) return originallyDown('the query finds nothing');
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean')
      return originallyDown(`the query finds ${Array.isArray(value) ? 'an array' : `a value of type ${typeof value}`}`);
    const compared: unknown = await jsonata(comparison, limits).evaluate({ value: String(value), expected });
    if (compared === true) return originallyUp;
    return originallyDown(`the query finds ${singleLine(String(value), 60)}, which is not ${operator} ${expected}`);
  } catch (error) {
    return originallyDown(`the query fails: ${singleLine(messageOf(error), 100)}`);
  }
}

const numbers = (operator: string) => `$number(value) ${operator} $number(expected)`;
const comparisons: Readonly<Record<string, string>> = {
  '==': 'value = expected',
  '!=': 'value != expected',
  contains: '$contains(value, expected)',
  '<': numbers('<'),
  '<=': numbers('<='),
  '>': numbers('>'),
  '>=': numbers('>='),
};
