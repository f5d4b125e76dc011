import { scryptSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { createAccess } from '#web/access/access.ts';
import { createSessions, type Sessions } from '#web/access/sessions.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { seededRandom } from '../../support/seeded-random.ts';

const caller = (cookie = '') => ({ headers: { cookie }, socket: { remoteAddress: '192.0.2.9' } }) as never;

/** A hash that is fast to compare: how slow a usual one is does not matter here. */
function cheapHash(password: string): string {
  const salt = Buffer.from(`salt of ${sequence++} bytes`.padEnd(16));
  const plain = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '');
  return `$scrypt$ln=4,r=8,p=1$${plain(salt)}$${plain(scryptSync(password, salt, 32, { N: 16, r: 8, p: 1 }))}`;
}
let sequence = 0;

/** What is stored, and sessions over it: made anew they are those after a restart. */
function openFacts(clock: FakeClock) {
  const facts = new Map<string, string>();
  const random = seededRandom();
  const errors: unknown[] = [];
  const store = {
    fact(name: string, make: () => string) {
      if (!facts.has(name)) facts.set(name, make());
      return facts.get(name) ?? '';
    },
    setFact: (name: string, value: string) => void facts.set(name, value),
  };
  const failed = (error: unknown) => void errors.push(error);
  return { facts, errors, store, sessions: (from = store) => createSessions({ store: from, clock, random, failed }) };
}

function access(users: ReadonlyMap<string, string>, clock = new FakeClock(), sessions?: Sessions) {
  return createAccess({
    users,
    userHeader: null,
    isProxy: () => false,
    strangers: true,
    sessions: sessions ?? openFacts(clock).sessions(),
    clock,
  });
}

test('guesses are refused by network, however many addresses of it they come from', async () => {
  const clock = new FakeClock();
  const guarded = access(new Map(), clock);
  const tries: unknown[] = [];
  for (let number = 1; number <= 11; number += 1)
    tries.push(await guarded.signIn('ann', 'x', `2001:db8:0:1::${number}`));
  expect(tries).toEqual([...Array.from({ length: 10 }, () => 'wrong'), 'busy']);
  expect(await guarded.signIn('ann', 'x', '2001:db8:0:100::1')).toBe('wrong');
  await clock.advance(61_000);
  expect(await guarded.signIn('ann', 'x', '2001:db8:0:1::1')).toBe('wrong');
});

async function signedIn(users: ReadonlyMap<string, string>, clock: FakeClock, sessions: Sessions) {
  const result = await access(users, clock, sessions).signIn('ann', 'right', '192.0.2.1');
  if (typeof result === 'string') throw new Error(result);
  return caller(`a=b; watchpost_session=${result.session}; c=d`);
}

test('a session holds for as long as its user has the password that it began with, over restarts too', async () => {
  const users = new Map([['ann', cheapHash('right')]]);
  const clock = new FakeClock();
  const { sessions, facts } = openFacts(clock);
  const ann = await signedIn(users, clock, sessions());
  const userOf = (known: ReadonlyMap<string, string>, who = ann) => access(known, clock, sessions()).userOf(who);
  expect(userOf(users)).toBe('ann');
  expect(userOf(users, caller('watchpost_session='))).toBe(null);
  const changed = new Map([['ann', cheapHash('right')]]);
  expect(userOf(changed)).toBe(null);
  expect(userOf(new Map())).toBe(null);
  await clock.advance(7 * 86_400_000 - 1);
  expect(userOf(users)).toBe('ann');
  await clock.advance(1);
  expect(userOf(users)).toBe(null);
  // Nothing that is stored signs anybody in.
  const { headers } = ann as { headers: { cookie: string } };
  for (const value of facts.values()) expect(headers.cookie).not.toContain(value);
});

test('a session that was closed stays closed over a restart; others go on', async () => {
  const users = new Map([['ann', cheapHash('right')]]);
  const clock = new FakeClock();
  const { sessions } = openFacts(clock);
  const [desk, phone] = [await signedIn(users, clock, sessions()), await signedIn(users, clock, sessions())];
  const now = access(users, clock, sessions());
  now.signOut(desk);
  for (const one of [now, access(users, clock, sessions())])
    expect([one.userOf(desk), one.userOf(phone)]).toEqual([null, 'ann']);
});

test('after very many closed sessions everybody signs in again', async () => {
  const users = new Map([['ann', 'a hash']]);
  const clock = new FakeClock();
  const { sessions, facts } = openFacts(clock);
  const one = sessions();
  const [first, last] = [one.open('ann', 'a hash'), one.open('ann', 'a hash')];
  one.close(first);
  for (let count = 0; count < 1_000; count += 1) one.close(one.open('ann', 'a hash'));
  expect([first, last].map((session) => sessions().userOf(session, users))).toEqual([null, null]);
  expect(facts.get('closed sessions')).toBe('{}');
  expect(sessions().userOf(sessions().open('ann', 'a hash'), users)).toBe('ann');
});

test('a session that was changed is none', () => {
  const clock = new FakeClock();
  const sessions = openFacts(clock).sessions();
  const users = new Map([
    ['ann', 'a hash'],
    ['bob', 'a hash'],
  ]);
  const [id, name = '', until, signature = ''] = sessions.open('ann', 'a hash').split('.');
  const bob = Buffer.from('bob').toString('base64url');
  const forged = [
    [id, bob, until, signature],
    [id, name, Number(until) + 1, signature],
    [id, name, until, `${signature.slice(0, -2)}AA`],
    [id, name, until],
    [`${id}A`, name, until, signature],
  ];
  for (const parts of forged)
    expect([parts.join('.'), sessions.userOf(parts.join('.'), users)]).toEqual([parts.join('.'), null]);
  expect(sessions.userOf([id, name, until, signature].join('.'), users)).toBe('ann');
});

test('while nothing can be stored users can sign in and out', async () => {
  const users = new Map([['ann', cheapHash('right')]]);
  const clock = new FakeClock();
  const { sessions, errors } = openFacts(clock);
  const fail = () => {
    throw new Error('disk I/O error');
  };
  const broken = sessions({ fact: fail, setFact: fail });
  const guarded = access(users, clock, broken);
  const ann = await signedIn(users, clock, broken);
  expect(guarded.userOf(ann)).toBe('ann');
  guarded.signOut(ann);
  expect(guarded.userOf(ann)).toBe(null);
  expect(errors).toHaveLength(3);
});

test.each([
  { name: 'by the proxy', from: '192.0.2.1', headers: { 'x-user': 'ann' }, user: 'ann' },
  { name: 'by anybody else', from: '192.0.2.9', headers: { 'x-user': 'ann' }, user: null },
  { name: 'in another header', from: '192.0.2.1', headers: { 'x-name': 'ann' }, user: null },
  { name: 'twice', from: '192.0.2.1', headers: { 'x-user': ['ann', 'bob'] }, user: null },
  { name: 'by what is no name', from: '192.0.2.1', headers: { 'x-user': 'ann <b>' }, user: null },
  { name: 'by nothing', from: '192.0.2.1', headers: { 'x-user': '' }, user: null },
  { name: 'nowhere', from: '192.0.2.1', headers: {}, user: null },
])('a user is believed who is named $name: $user', ({ from, headers, user }) => {
  const clock = new FakeClock();
  const options = { users: new Map(), strangers: true, clock, sessions: openFacts(clock).sessions() };
  const isProxy = (address: string) => address === '192.0.2.1';
  const request = { headers, socket: { remoteAddress: from } } as never;
  const behindProxy = createAccess({ ...options, userHeader: 'x-user', isProxy });
  expect(behindProxy.hasUsers).toBe(true);
  expect(behindProxy.userOf(request)).toBe(user);
  expect([behindProxy.mayRead(request), behindProxy.mayAct(request)]).toEqual([user !== null, user !== null]);
  expect(createAccess({ ...options, userHeader: null, isProxy }).userOf(request)).toBe(null);
});

test('wrong passwords from sixty networks at once do not keep a user out, and right ones are no attempts', async () => {
  const clock = new FakeClock();
  const users = new Map([['ada', cheapHash('right')]]);
  const guarded = access(users, clock);
  for (let count = 0; count < 12; count += 1)
    expect(await guarded.signIn('ada', 'right', '198.51.100.1')).toHaveProperty('session');
  const guesses = Array.from({ length: 60 }, (_, last) => guarded.signIn('ada', 'wrong', `192.0.2.${last}`));
  const order: string[] = [];
  const crowd = Promise.all(guesses).then((answers) => {
    order.push('crowd');
    return answers;
  });
  expect(await guarded.signIn('ada', 'right', '198.51.100.1')).toHaveProperty('session');
  order.push('user');
  expect(new Set(await crowd)).toEqual(new Set(['wrong']));
  expect(order).toEqual(['user', 'crowd']);
});
