import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { type AccessRules, type Caller, isLocal, accessOf } from '#service/access.ts';

const hash = (token: string) => createHash('sha256').update(token).digest();
const rules: AccessRules = { open: false, allowPrivate: 'loopback', origins: [], tokens: [] };
const withTokens: AccessRules = {
  ...rules,
  tokens: [
    { name: 'ci', hash: hash('secret-1') },
    { name: 'dash', hash: hash('secret-2') },
  ],
};

const caller = (ip: string, headers: Caller['headers'] = {}): Caller => ({
  ip,
  peer: ip,
  headers: { host: ip === '127.0.0.1' ? '127.0.0.1:8080' : 'status.example.com', ...headers },
});
const here = caller('127.0.0.1');
const stranger = caller('198.51.100.1');
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

test.each<{ name: string; caller: Caller; local: boolean }>([
  { name: 'a loopback connection to 127.0.0.1', caller: here, local: true },
  { name: 'one to localhost', caller: caller('127.0.0.1', { host: 'LOCALHOST' }), local: true },
  { name: 'one over IPv6', caller: { ip: '::1', peer: '::1', headers: { host: '[::1]:8080' } }, local: true },
  { name: 'one that is IPv4 inside IPv6', caller: { ...here, peer: '::ffff:127.0.0.1' }, local: true },
  { name: 'another machine', caller: stranger, local: false },
  { name: 'another machine that names localhost', caller: caller('198.51.100.1', { host: 'localhost' }), local: false },
  {
    name: 'a name that a page has pointed to 127.0.0.1',
    caller: caller('127.0.0.1', { host: 'evil.example:8080' }),
    local: false,
  },
  {
    name: 'a name that begins like a loopback address',
    caller: caller('127.0.0.1', { host: '127.0.0.1.evil.example' }),
    local: false,
  },
  { name: 'no host at all', caller: { ip: '127.0.0.1', peer: '127.0.0.1', headers: {} }, local: false },
  { name: 'a page of another site', caller: caller('127.0.0.1', { 'sec-fetch-site': 'cross-site' }), local: false },
  ...['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'forwarded', 'x-real-ip', 'via'].map((header) => ({
    name: `a proxy that sends ${header}`,
    caller: caller('127.0.0.1', { [header]: '127.0.0.1' }),
    local: false,
  })),
])('$name is local: $local', ({ caller: one, local }) => {
  expect(isLocal(one)).toBe(local);
});

test.each<{ name: string; caller: Caller; rules: AccessRules; expected: object }>([
  {
    name: 'a caller here, no tokens',
    caller: here,
    rules,
    expected: { ok: true, policy: 'private', client: '127.0.0.1' },
  },
  { name: 'a stranger, no tokens', caller: stranger, rules, expected: { ok: false, error: 'unauthorized' } },
  {
    name: 'a stranger where it is open',
    caller: stranger,
    rules: { ...rules, open: true },
    expected: { ok: true, policy: 'public', client: '198.51.100.1' },
  },
  {
    name: 'a caller here, tokens configured',
    caller: here,
    rules: withTokens,
    expected: { ok: false, error: 'unauthorized' },
  },
  {
    name: 'a right token',
    caller: caller('198.51.100.1', bearer('secret-2')),
    rules: withTokens,
    expected: { ok: true, policy: 'public', client: 'token dash' },
  },
  {
    name: 'a right token from here',
    caller: caller('127.0.0.1', bearer('secret-1')),
    rules: withTokens,
    expected: { ok: true, policy: 'private', client: 'token ci' },
  },
  {
    name: 'a wrong token',
    caller: caller('198.51.100.1', bearer('secret')),
    rules: withTokens,
    expected: { ok: false, error: 'unauthorized' },
  },
  {
    name: 'a wrong token where it is open',
    caller: caller('198.51.100.1', bearer('secret')),
    rules: { ...withTokens, open: true },
    expected: { ok: false, error: 'unauthorized' },
  },
  {
    name: 'a token where none is configured',
    caller: caller('127.0.0.1', bearer('any')),
    rules,
    expected: { ok: false, error: 'unauthorized' },
  },
  {
    name: 'private addresses for nobody',
    caller: here,
    rules: { ...rules, allowPrivate: false },
    expected: { ok: true, policy: 'public' },
  },
  {
    name: 'private addresses for all',
    caller: stranger,
    rules: { ...rules, open: true, allowPrivate: true },
    expected: { ok: true, policy: 'private' },
  },
])('$name', ({ caller: one, rules: some, expected }) => {
  expect(accessOf(one, some)).toMatchObject(expected);
});

const navigation = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };

test.each<{ name: string; headers: Caller['headers']; ok: boolean }>([
  { name: 'a typed address', headers: { ...navigation, 'sec-fetch-site': 'none', 'sec-fetch-user': '?1' }, ok: true },
  {
    name: 'a page of this service',
    headers: { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors', origin: 'http://127.0.0.1:8080' },
    ok: true,
  },
  {
    name: 'a link on another site that a person follows',
    headers: { ...navigation, 'sec-fetch-site': 'cross-site', 'sec-fetch-user': '?1' },
    ok: true,
  },
  { name: 'another site that moves the window', headers: { ...navigation, 'sec-fetch-site': 'cross-site' }, ok: false },
  {
    name: 'an image on another site',
    headers: { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' },
    ok: false,
  },
  {
    name: 'a frame on another site',
    headers: {
      'sec-fetch-site': 'cross-site',
      'sec-fetch-mode': 'navigate',
      'sec-fetch-dest': 'iframe',
      'sec-fetch-user': '?1',
    },
    ok: false,
  },
  { name: 'a script of another site', headers: { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'cors' }, ok: false },
  { name: 'a prefetch', headers: { 'sec-purpose': 'prefetch;prerender' }, ok: false },
  { name: 'a prefetch of old', headers: { purpose: 'prefetch' }, ok: false },
  { name: 'an old browser on another site', headers: { origin: 'https://evil.example' }, ok: false },
  { name: 'an old browser that hides the site', headers: { origin: 'null' }, ok: false },
  { name: 'no browser', headers: {}, ok: true },
])('$name may start a check: $ok', ({ headers, ok }) => {
  const access = accessOf(caller('127.0.0.1', headers), { ...rules, open: true });
  expect(access).toMatchObject(ok ? { ok } : { ok, error: 'cross_site' });
});

test('a form of our own page is local though its origin is "null", and a page of a named origin is a stranger', () => {
  const own = caller('127.0.0.1', { origin: 'null', 'sec-fetch-site': 'same-origin' });
  expect(accessOf(own, rules)).toMatchObject({ ok: true, policy: 'private', isStranger: false });
  const named = { ...rules, open: true, origins: ['https://shop.example'] };
  const other = caller('127.0.0.1', { origin: 'https://shop.example', 'sec-fetch-site': 'cross-site' });
  expect(accessOf(other, named)).toMatchObject({ ok: true, policy: 'public', isStranger: true });
  expect(accessOf(caller('127.0.0.1', { origin: 'https://shop.example' }), named)).toMatchObject({ isStranger: true });
});
