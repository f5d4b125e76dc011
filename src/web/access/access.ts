import type { FastifyRequest } from 'fastify';
import type { Clock } from '#kernel/clock.ts';
import { siteOf } from '#kernel/network.ts';
import { isPassword } from '#kernel/password.ts';
import { isLocal } from './caller.ts';
import { createLoginQueue } from './login-queue.ts';
import { sessionMs, type Sessions } from './sessions.ts';

export interface AccessOptions {
  /** By name, the hash of the password. */
  readonly users: ReadonlyMap<string, string>;
  /** The header in which a trusted proxy names the user that it let in, in lower case; null for none. */
  readonly userHeader: string | null;
  /** Whether the connection comes from a trusted proxy. */
  readonly isProxy: (address: string) => boolean;
  /** Whether strangers are let in to this listener: then what is watched is shown to users, or to this machine, only. */
  readonly strangers: boolean;
  readonly sessions: Sessions;
  readonly clock: Clock;
}

/** Who may see and do what on pages. */
export interface AccessControl {
  /** The name of the user who has signed in, or whom a trusted proxy names; null if there is none. */
  userOf(request: AccessRequest): string | null;
  mayRead(request: AccessRequest): boolean;
  /** Whether who asks may acknowledge and silence: users; if there are none, browsers on this machine. */
  mayAct(request: AccessRequest): boolean;
  /** Whether signing in is of any use here. */
  readonly hasUsers: boolean;
  /** A session for the right password, as the value of a cookie; `busy` if too many attempts wait, or failed from this network. */
  signIn(user: string, password: string, from: string): Promise<{ readonly session: string } | 'wrong' | 'busy'>;
  signOut(request: AccessRequest): void;
}

type AccessRequest = Pick<FastifyRequest, 'headers' | 'socket'>;

const cookieName = 'watchpost_session';

const attemptsMs = 60_000;
const attemptsPerNetwork = 10;
// Compared if the user is unknown, so that the time does not reveal which users exist.
const unknownUserHash = `$scrypt$ln=15,r=8,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`;

export function createAccess(options: AccessOptions): AccessControl {
  const { users, userHeader, isProxy, strangers, sessions, clock } = options;
  // Wrong passwords of the last minute, by network.
  const failures = new Map<string, { count: number; readonly since: number }>();
  const queue = createLoginQueue(clock);
  const hasUsers = users.size > 0 || userHeader !== null;

  function namedByProxy({ headers, socket }: AccessRequest): string | null {
    if (userHeader === null || !isProxy(socket.remoteAddress ?? '')) return null;
    const named = headers[userHeader];
    return typeof named === 'string' && /^[\w.@+-]{1,100}$/.test(named) ? named : null;
  }

  function userOf(request: AccessRequest): string | null {
    return sessions.userOf(cookieOf(request), users) ?? namedByProxy(request);
  }

  function mayTry(network: string): boolean {
    const now = clock.elapsed();
    for (const [one, { since }] of failures) if (now - since > attemptsMs) failures.delete(one);
    return (failures.get(network)?.count ?? 0) < attemptsPerNetwork;
  }

  function noteFailure(network: string): void {
    const known = failures.get(network) ?? { count: 0, since: clock.elapsed() };
    failures.set(network, known);
    known.count += 1;
  }

  return {
    hasUsers,
    userOf,
    mayRead: (request) => (hasUsers ? userOf(request) !== null : !strangers || isLocal(request)),
    mayAct: (request) => (hasUsers ? userOf(request) !== null : isLocal(request)),
    async signIn(user, password, from) {
      const network = siteOf(from);
      const hash = users.get(user);
      const isRight = await queue.run(
        network,
        async () => mayTry(network) && isPassword(password, hash ?? unknownUserHash),
      );
      if (isRight === 'busy' || !mayTry(network)) return 'busy';
      if (!isRight || hash === undefined) {
        noteFailure(network);
        return 'wrong';
      }
      queue.remember(network);
      return { session: sessions.open(user, hash) };
    },
    signOut: (request) => {
      if (userOf(request) !== null) sessions.close(cookieOf(request));
    },
  };
}

/** The cookie of a session, or one that ends it. */
export function sessionCookie(id: string | null, secure: boolean): string {
  const age = id === null ? 0 : sessionMs / 1_000;
  return `${cookieName}=${id ?? ''}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${age}${secure ? '; Secure' : ''}`;
}

function cookieOf({ headers: { cookie = '' } }: AccessRequest): string {
  return new RegExp(`(?:^|;\\s*)${cookieName}=([\\w.-]+)`).exec(cookie)?.[1] ?? '';
}
