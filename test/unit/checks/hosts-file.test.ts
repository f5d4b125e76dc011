import { expect, test } from 'vitest';
import { candidates, parseHosts, parseSearchRules } from '#checks/hosts-file.ts';

test('reads names with all their addresses', () => {
  const hosts = parseHosts(`
    127.0.0.1   localhost Localhost.LocalDomain # comment
    ::1         localhost
    # 192.0.2.1 hidden
    nonsense    name
    fe80::1%lo  zoned
    192.0.2.3
  `);
  expect(Object.fromEntries(hosts)).toEqual({
    localhost: ['127.0.0.1', '::1'],
    'localhost.localdomain': ['127.0.0.1'],
  });
});

test.each([
  ['', { search: [], ndots: 1 }],
  [
    'nameserver 192.0.2.53\nsearch a.example. B.example\noptions ndots:5 timeout:1',
    { search: ['a.example', 'b.example'], ndots: 5 },
  ],
  ['domain a.example\nsearch b.example ; last one counts', { search: ['b.example'], ndots: 1 }],
  ['search .', { search: [], ndots: 1 }],
  ['options ndots:99', { search: [], ndots: 15 }],
  ['options ndots:x', { search: [], ndots: 1 }],
])('reads search rules of %j', (text, rules) => {
  expect(parseSearchRules(text)).toEqual(rules);
});

test.each([
  ['web', 1, ['web.a.example', 'web.b.example', 'web']],
  ['web.shop', 1, ['web.shop', 'web.shop.a.example', 'web.shop.b.example']],
  ['web.shop', 5, ['web.shop.a.example', 'web.shop.b.example', 'web.shop']],
  ['web', 0, ['web', 'web.a.example', 'web.b.example']],
])('asks for %s with ndots %i in the right order', (name, ndots, names) => {
  expect(candidates(name, { search: ['a.example', 'b.example'], ndots })).toEqual(names);
});
