import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { pairsOf } from '#service/http/parameters.ts';

const inQuery = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom('host', '=', '&', '+', '%20', '%3A', '%', '?', '[]', '.', ':', '/', '#', ' '),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom('%C3%A9', '%C3', '%FF', '%e2%82%ac', '%EF%BB%BF', '%00', '%2', '%zz', '%25'),
  },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 3 }) },
);

test('pairs are read as URLSearchParams reads them, whatever is written', () => {
  const query = fc.array(inQuery, { maxLength: 12 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(query, (text) => {
      expect(pairsOf(text)).toEqual([...new URLSearchParams(text)]);
    }),
    { numRuns: 2_000 },
  );
});

test.each(['host=127.0.0.1%3A80&max_nodes=1', 'host=a%20b', 'a=%C3%A9', 'a=%C3', 'a=\ud800', '?a=1', '&&a&=b&'])(
  'so is %j',
  (text) => expect(pairsOf(text)).toEqual([...new URLSearchParams(text)]),
);
