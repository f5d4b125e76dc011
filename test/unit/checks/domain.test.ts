import { expect, test } from 'vitest';
import { serverFor } from '#checks/domain/bootstrap.ts';

const list = {
  services: [
    [['example'], ['http://plain.example/', 'https://rdap.example/']],
    [['co.example', 'ORG.example'], ['https://co.example/rdap']],
    [['test'], ['http://plain.test/']],
    [['bad'], ['https://']],
  ] as [string[], string[]][],
};

test.each([
  { name: 'a domain is looked for by its last label', domain: 'shop.example', server: 'https://rdap.example/' },
  { name: 'the longest name that fits counts', domain: 'shop.co.example', server: 'https://co.example/rdap' },
  { name: 'case is of no account', domain: 'shop.org.example', server: 'https://co.example/rdap' },
  { name: 'another name that ends alike does not fit', domain: 'shop.aco.example', server: 'https://rdap.example/' },
  { name: 'a name that is not listed has none', domain: 'shop.invalid', server: null },
  { name: 'an address that is none is passed over', domain: 'shop.bad', server: null },
  { name: 'a list that came encrypted leads to no server without encryption', domain: 'shop.test', server: null },
])('$name', ({ domain, server }) => {
  expect(serverFor(domain, list, true)).toBe(server);
});

test('a list that came without encryption may lead to a server without it', () => {
  expect(serverFor('shop.test', list, false)).toBe('http://plain.test/');
  expect(serverFor('shop.example', list, false)).toBe('https://rdap.example/');
});
