import { expect, test } from 'vitest';
import { readConditions } from '#import/gatus/expect.ts';

test.each([
  [['[RESPONSE_TIME] < 500', '[RESPONSE_TIME] < 300'], 300],
  [['[RESPONSE_TIME] < 300', '[RESPONSE_TIME] < 500'], 300],
])('of several bounds of the response time the smallest holds: %j', (conditions, latencyMs) => {
  expect(readConditions(conditions)).toMatchObject({ latencyMs, lost: [] });
});
