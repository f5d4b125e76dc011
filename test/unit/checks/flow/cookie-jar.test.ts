import { expect, test } from 'vitest';
import { CookieJar } from '#checks/flow/cookie-jar.ts';
import { filledBody, filledUrl, namesIn } from '#checks/flow/template.ts';
import { type RedirectTarget, targetOf } from '#checks/http/redirect.ts';

const now = Date.parse('2026-01-01T00:00:00Z');

function at(url: string): RedirectTarget {
  const target = targetOf(url);
  if (typeof target === 'string') throw new Error(target);
  return target;
}

test.each<readonly [cookie: string, from: string, to: string, sent: string | null]>([
  ['a=1', 'https://a.example/', 'https://a.example/x', 'a=1'],
  ['a=1', 'https://a.example/', 'https://b.example/', null],
  ['a=1', 'https://a.example/', 'https://sub.a.example/', null],
  ['a=1; Domain=a.example', 'https://a.example/', 'https://sub.a.example/', 'a=1'],
  ['a=1; Domain=.A.example', 'https://www.a.example/', 'https://a.example/', 'a=1'],
  ['a=1; Domain=b.example', 'https://a.example/', 'https://b.example/', null],
  ['a=1; Domain=example', 'https://a.example/', 'https://b.example/', null],
  ['a=1; Domain=2.0.1', 'http://192.0.2.1/', 'http://192.0.2.1/', null],
  ['a=1; Domain=192.0.2.1', 'http://192.0.2.1/', 'http://192.0.2.1/', 'a=1'],
  ['a=1; Secure', 'https://a.example/', 'http://a.example/', null],
  ['a=1; Secure', 'http://a.example/', 'https://a.example/', null],
  ['a=1; Path=/app', 'https://a.example/', 'https://a.example/app/x', 'a=1'],
  ['a=1; Path=/app', 'https://a.example/', 'https://a.example/application', null],
  ['a=1', 'https://a.example/app/login?x=/y', 'https://a.example/app/z', 'a=1'],
  ['a=1', 'https://a.example/app/login', 'https://a.example/', null],
  ['a=1; Max-Age=0', 'https://a.example/', 'https://a.example/', null],
  ['a=1; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT', 'https://a.example/', 'https://a.example/', 'a=1'],
  ['a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT', 'https://a.example/', 'https://a.example/', null],
  ['a=1; Expires=0', 'https://a.example/', 'https://a.example/', 'a=1'],
  ['a=1; Expires=-1', 'https://a.example/', 'https://a.example/', 'a=1'],
  ['a=1; Expires=12', 'https://a.example/', 'https://a.example/', 'a=1'],
  ['a=1; Expires=31 Feb 2025', 'https://a.example/', 'https://a.example/', 'a=1'],
  ['a=1; Expires=Tue, 31-Feb-2025 00:00:00 GMT', 'https://a.example/', 'https://a.example/', 'a=1'],
  ['a=1; Expires=Wed, 31-Dec-2025 24:00:00 GMT', 'https://a.example/', 'https://a.example/', 'a=1'],
  ['a=1; Expires=Wed, 31-Dec-25 23:59:59 GMT', 'https://a.example/', 'https://a.example/', null],
  ['a=1; Expires=Thursday, 01-Jan-26 00:00:01 GMT', 'https://a.example/', 'https://a.example/', 'a=1'],
  ['a=1; Expires=Fri, 31-Dec-99 23:59:59 GMT', 'https://a.example/', 'https://a.example/', null],
  ['a=1; Expires=Thu Jan 1 0:00:01 2026', 'https://a.example/', 'https://a.example/', 'a=1'],
  ['a=1; Expires=Wed Dec 31 23:59:59 2025', 'https://a.example/', 'https://a.example/', null],
  ['a=1; Expires=Wed, 31 Dec 2025 23:59:59 +0100', 'https://a.example/', 'https://a.example/', null],
  ['a=1; Expires=nonsense', 'https://a.example/', 'https://a.example/', 'a=1'],
  ['__Host-a=1; Secure; Path=/', 'https://a.example/', 'https://a.example/', '__Host-a=1'],
  ['__Host-a=1; Secure; Path=/; Domain=a.example', 'https://a.example/', 'https://a.example/', null],
  ['__Secure-a=1', 'https://a.example/', 'https://a.example/', null],
  ['nothing', 'https://a.example/', 'https://a.example/', null],
  ['a=1=2', 'https://a.example/', 'https://a.example/', 'a=1=2'],
  ['a=\u0001', 'https://a.example/', 'https://a.example/', null],
  [`a=${'x'.repeat(5_000)}`, 'https://a.example/', 'https://a.example/', null],
])('%s from %s to %s', (cookie, from, to, sent) => {
  const jar = new CookieJar();
  jar.take([cookie], at(from), now);
  expect(jar.headerFor(at(to), now)).toBe(sent);
});

test('cookies replace each other, end, stand in the order of their paths, and are not too many', () => {
  const jar = new CookieJar();
  const place = at('https://a.example/x/y');
  jar.take(['a=1; Path=/', 'a=2; Path=/', 'b=3; Path=/x', 'c=4; Path=/; Max-Age=10'], place, now);
  expect(jar.headerFor(place, now)).toBe('b=3; a=2; c=4');
  expect(jar.headerFor(place, now + 10_000)).toBe('b=3; a=2');
  expect([jar.valueOf('a', now), jar.valueOf('c', now + 10_000)]).toEqual(['2', null]);
  jar.take(
    Array.from({ length: 200 }, (_, index) => `n${index}=1`),
    place,
    now,
  );
  expect(jar.values).toHaveLength(100);
});

test('values are encoded as their place needs', () => {
  const values = new Map([
    ['a', 'x y&"z"'],
    ['url', 'https://a.example/?q=1'],
  ]);
  expect(filledUrl('/p/{{a}}?q={{ a }}', values)).toBe('/p/x%20y%26%22z%22?q=x%20y%26%22z%22');
  expect(filledUrl('{{url}}', values)).toBe('https://a.example/?q=1');
  expect(filledBody('{"a":"{{a}}"}', values, 'application/json')).toBe('{"a":"x y&\\"z\\""}');
  expect(filledBody('a={{a}}', values, 'application/x-www-form-urlencoded')).toBe('a=x%20y%26%22z%22');
  expect(filledBody('{{a}} {{other}}', values, '')).toBe('x y&"z" {{other}}');
  expect(namesIn('{{a}} {{ b_1 }} {c} {{1}}')).toEqual(['a', 'b_1']);
});
