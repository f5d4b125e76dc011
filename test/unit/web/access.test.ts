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
