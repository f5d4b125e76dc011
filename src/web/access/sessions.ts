import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { Clock } from '#kernel/clock.ts';
import type { Random } from '#kernel/random.ts';
import { dayMs } from '#kernel/units.ts';

/** What sessions keep over a restart: texts by name. */
export interface SessionStore {
  fact(name: string, make: () => string): string;
  setFact(name: string, value: string): void;
}

/** Sessions of users, as signed texts that browsers keep: none is stored, so they survive a restart. */
export interface Sessions {
  /** A session for a user who has just given the password of this hash. */
  open(user: string, passwordHash: string): string;
  /** Whose session it is; null if it is none, has expired or was closed, or if the user's password is another one now. */
  userOf(session: string, users: ReadonlyMap<string, string>): string | null;
  /** Ends a session for good. */
  close(session: string): void;
}

export interface SessionStoreOptions {
  readonly store: SessionStore;
  readonly clock: Clock;
  readonly random: Random;
  /** Gets what the store throws: sessions go on without it. */
  readonly failed: (error: unknown) => void;
}

export const sessionMs = 7 * dayMs;
const mostClosed = 1_000;
const keyName = 'session key';
const closedName = 'closed sessions';
const Closed = z.record(z.string(), z.number()).catch({});

export function createSessions({ store, clock, random, failed }: SessionStoreOptions): Sessions {
  const newKey = () => random.id(43);
  let key = attempt(() => store.fact(keyName, newKey)) ?? newKey();
  // By identifier, until when each would have held.
  let closed = new Map(
    Object.entries(Closed.parse(JSON.parse(attempt(() => store.fact(closedName, () => '{}')) ?? '{}'))),
  );

  function attempt<Result>(action: () => Result): Result | null {
    try {
      return action();
    } catch (error) {
      failed(error);
      return null;
    }
  }

  // The hash of the password is signed too: with another password the session is over.
  const signatureOf = (id: string, user: string, until: number, passwordHash: string): string =>
    createHmac('sha256', key)
      .update(JSON.stringify([id, user, until, passwordHash]))
      .digest('base64url');

  return {
    open(user, passwordHash) {
      const [id, until] = [random.id(16), clock.now() + sessionMs];
      const name = Buffer.from(user).toString('base64url');
      return `${id}.${name}.${until}.${signatureOf(id, user, until, passwordHash)}`;
    },
    userOf(session, users) {
      const read = parse(session);
      if (read === null) return null;
      const { id, user, until, signature } = read;
      const hash = users.get(user);
      if (hash === undefined || until <= clock.now() || closed.has(id)) return null;
      const [given, right] = [Buffer.from(signature), Buffer.from(signatureOf(id, user, until, hash))];
      return given.length === right.length && timingSafeEqual(given, right) ? user : null;
    },
    close(session) {
      const read = parse(session);
      if (read === null) return;
      const now = clock.now();
      closed = new Map([...closed, [read.id, read.until] as const].filter(([, until]) => until > now));
      if (closed.size > mostClosed) {
        // All users log in again: better than that one of these sessions is valid again.
        key = newKey();
        closed.clear();
        attempt(() => store.setFact(keyName, key));
      }
      attempt(() => store.setFact(closedName, JSON.stringify(Object.fromEntries(closed))));
    },
  };
}

function parse(session: string) {
  const [, id, name = '', until = '', signature = ''] =
    /^([A-Za-z0-9]{16})\.([\w-]{1,600})\.(\d{1,16})\.([\w-]{43})$/.exec(session) ?? [];
  if (id === undefined) return null;
  return { id, user: Buffer.from(name, 'base64url').toString(), until: Number(until), signature };
}
