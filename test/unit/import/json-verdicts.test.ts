import { expect, test } from 'vitest';
import { bodyFailure } from '#checks/http/expect-body.ts';
import { HttpExpectation } from '#checks/http/spec.ts';
import { jsonExpectation } from '../../../src/import/kuma/json-query.ts';

// The values of a field that services answer, and that monitors are set up for.
const values: readonly unknown[] = [
  15,
  '15',
  '15.0',
  0,
  '0',
  -1,
  9,
  '9',
  1.5,
  '1.5',
  1e21,
  1_000,
  '1e3',
  true,
  'true',
  false,
  'false',
  null,
  'null',
  undefined,
  '',
  ' ',
  'ok',
  'OK',
  'not ok',
  'abc',
  'a|b',
  '(x)',
  {},
  { ok: true },
  [],
  [15],
];
const expectations = [
  '15',
  '15.0',
  '0',
  '9',
  '1.5',
  'true',
  'false',
  'null',
  'ok',
  'abc',
  'a|b',
  '(x)',
  '1000',
  '1e3',
  'ru',
  '',
];
const operators = ['==', '!=', 'contains', '<', '<=', '>', '>='] as const;

/**
 * The verdict of Uptime Kuma 2 (`evaluateJsonQuery` in server/util-server.js): texts are compared, `<` and the like by `$number` of JSONata, and
 * what is missing, null, an object or a list is down.
 */
function kumaIsUp(value: unknown, operator: (typeof operators)[number], expected: string): boolean {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') return false;
  const text = String(value);
  if (operator === '==') return text === expected;
  if (operator === '!=') return text !== expected;
  if (operator === 'contains') return text.includes(expected);
  const [left, right] = [numberOf(text), numberOf(expected)];
  if (left === null || right === null) return false;
  if (operator === '<') return left < right;
  if (operator === '<=') return left <= right;
  return operator === '>' ? left > right : left >= right;
}

// JSONata's $number takes numbers as JSON writes them.
const numberOf = (text: string) => (/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/.test(text) ? Number(text) : null);

function ownIsUp(json: unknown, value: unknown): boolean {
  const { body } = HttpExpectation.parse({ body: { json } });
  if (body === undefined) throw new Error('no expectation');
  const content = Buffer.from(JSON.stringify({ field: value, other: 1 }));
  return bodyFailure(body, { bytes: content.length, complete: true, content }, { headers: {} }) === null;
}

test.each(operators)('a JSON query with %s has the verdicts of Uptime Kuma, or says how they differ', (operator) => {
  let compared = 0;
  for (const expected of expectations) {
    const query = { json_path: 'field', json_path_operator: operator, expected_value: expected };
    const { json, lost, differs } = jsonExpectation(query as Parameters<typeof jsonExpectation>[0]);
    if (json === null) {
      // Kuma would be down whatever the value: it cannot compare with what is no number.
      expect([operator, expected, lost !== null && numberOf(expected) === null]).toEqual([operator, expected, true]);
      continue;
    }
    for (const value of values) {
      const isQuotedNumber = typeof value === 'string' && numberOf(value) !== null;
      if (differs !== null && isQuotedNumber) continue;
      compared += 1;
      expect([value, operator, expected, ownIsUp(json, value)]).toEqual([
        value,
        operator,
        expected,
        kumaIsUp(value, operator, expected),
      ]);
    }
  }
  expect(compared).toBeGreaterThan(150);
});
