import { expect, test } from 'vitest';
import { hashPassword } from '#kernel/password.ts';
import { createAccess, type Sessions } from '#web/access/access.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { seededRandom } from '../../support/seeded-random.ts';

const caller = (cookie = '') => ({ headers: { cookie }, socket: { remoteAddress: '192.0.2.9' } }) as never;

function access(users: ReadonlyMap<string, string>, sessions: Sessions = new Map(), clock = new FakeClock()) {
  return createAccess({
    users,
    userHeader: null,
    isProxy: () => false,
    strangers: true,
    sessions,
    clock,
    random: seededRandom(),
  });
}

test('who guesses passwords is refused by the network that he comes from, however many addresses of it he has', async () => {
  const clock = new FakeClock();
  const guarded = access(new Map(), new Map(), clock);
  const tries: unknown[] = [];
  for (let number = 1; number <= 11; number += 1)
    tries.push(await guarded.signIn('ann', 'x', `2001:db8:0:1::${number}`));
  expect(tries).toEqual([...Array.from({ length: 10 }, () => 'wrong'), 'busy']);
  expect(await guarded.signIn('ann', 'x', '2001:db8:0:2::1')).toBe('wrong');
  await clock.advance(61_000);
  expect(await guarded.signIn('ann', 'x', '2001:db8:0:1::1')).toBe('wrong');
});

test('a session holds for as long as its user has the password that it began with', async () => {
  const users = new Map([['ann', await hashPassword('right')]]);
  const sessions: Sessions = new Map();
  const clock = new FakeClock();
  const signedIn = await access(users, sessions, clock).signIn('ann', 'right', '192.0.2.1');
  if (typeof signedIn === 'string') throw new Error(signedIn);
  const cookie = `a=b; watchpost_session=${signedIn.session}`;
  expect(access(users, sessions, clock).userOf(caller(cookie))).toBe('ann');
  expect(access(users, sessions, clock).userOf(caller('watchpost_session='))).toBe(null);
  const changed = new Map([['ann', await hashPassword('right')]]);
  expect(access(changed, sessions, clock).userOf(caller(cookie))).toBe(null);
  expect(access(new Map(), sessions, clock).userOf(caller(cookie))).toBe(null);
  await clock.advance(8 * 86_400_000);
  expect(access(users, sessions, clock).userOf(caller(cookie))).toBe(null);
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
  const options = { users: new Map(), strangers: true, clock: new FakeClock(), random: seededRandom() };
  const isProxy = (address: string) => address === '192.0.2.1';
  const request = { headers, socket: { remoteAddress: from } } as never;
  const behindProxy = createAccess({ ...options, userHeader: 'x-user', isProxy });
  expect(behindProxy.hasUsers).toBe(true);
  expect(behindProxy.userOf(request)).toBe(user);
  expect([behindProxy.mayRead(request), behindProxy.mayAct(request)]).toEqual([user !== null, user !== null]);
  expect(createAccess({ ...options, userHeader: null, isProxy }).userOf(request)).toBe(null);
});
