import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Clock } from '#kernel/clock.ts';
import { WatchpostError } from '#kernel/errors.ts';
import { siteOf } from '#kernel/network.ts';
import type { Log } from '#kernel/log.ts';
import type { Random } from '#kernel/random.ts';
import { dayMs } from '#kernel/units.ts';
import type { Subscriber, SubscriptionStore } from './subscription-store.ts';

/** What a link in a mail is for. */
export type LinkPurpose = 'confirm' | 'unsubscribe';

/** Mail subscriptions of status pages. */
export interface Subscriptions {
  /** Whether a request from this network may be made now; counts it. */
  admits(from: string): boolean;
  /** Asks the owner of an address to confirm, unless that was done a short time ago, or there are too many. A failure is logged. */
  request(asked: { readonly page: string; readonly address: string; readonly language: string }): void;
  /** Confirms by the token of a mail, or ends; false if it is none, or not one of that page. */
  follow(purpose: LinkPurpose, page: string, token: string): boolean;
  /** Whether a token is one that can be followed. */
  isValid(purpose: LinkPurpose, page: string, token: string): boolean;
  list(page?: string): readonly Subscriber[];
  /** Ends the subscription of an id or of an address, on all pages. Throws `usage` if there is none. */
  remove(idOrAddress: string): readonly Subscriber[];
  /** Removes those that were not confirmed in time. */
  removeExpired(): void;
}

export interface SubscriptionsOptions {
  readonly store: SubscriptionStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Called when a mail waits to be sent. */
  readonly wake: () => void;
}

// A confirmation can be followed for a day, and an address is asked once in six hours.
const confirmMs = dayMs;
const askAgainMs = 6 * 3_600_000;
const networkMs = 3_600_000;
const mostPerNetwork = 5;
const mostAskedPerHour = 200;
const mostPerPage = 10_000;

/** The token of a link: the subscriber, and a signature of what the link is for. */
export function linkToken({ id, secret }: Pick<Subscriber, 'id' | 'secret'>, purpose: LinkPurpose): string {
  return `${id}.${createHmac('sha256', secret).update(`${purpose} ${id}`).digest('base64url')}`;
}

export function createSubscriptions({ store, clock, random, log, wake }: SubscriptionsOptions): Subscriptions {
  const networks = new Map<string, { count: number; readonly since: number }>();

  function subscriberOf(purpose: LinkPurpose, page: string, token: string): Subscriber | null {
    const subscriber = store.subscriber(token.split('.', 1)[0] ?? '');
    if (subscriber === null || subscriber.page !== page) return null;
    const [right, given] = [linkToken(subscriber, purpose), token].map((one) => Buffer.from(one));
    if (right === undefined || given === undefined || right.length !== given.length) return null;
    if (!timingSafeEqual(right, given)) return null;
    const isExpired = subscriber.confirmedAt === null && clock.now() - subscriber.askedAt > confirmMs;
    return isExpired ? null : subscriber;
  }

  const remove = (gone: readonly Subscriber[]) => {
    if (gone.length > 0) store.writeSubscription({ kind: 'subscribers removed', ids: gone.map(({ id }) => id) });
  };

  function request({ page, address, language }: Parameters<Subscriptions['request']>[0]): void {
    const now = clock.now();
    const all = store.subscribers();
    const known = all.find((one) => one.page === page && one.address === address) ?? null;
    if (known !== null && (known.confirmedAt !== null || now - known.askedAt < askAgainMs)) return;
    // The same address on other pages: one mailbox.
    if (all.some((one) => one.address === address && one.confirmedAt === null && now - one.askedAt < askAgainMs))
      return;
    if (all.filter((one) => now - one.askedAt < networkMs).length >= mostAskedPerHour) return;
    if (known === null && all.filter((one) => one.page === page).length >= mostPerPage) return;
    const subscriber: Subscriber = {
      id: known?.id ?? random.id(16),
      page,
      address,
      language,
      secret: random.id(43),
      askedAt: now,
      confirmedAt: null,
    };
    store.writeSubscription({ kind: 'subscriber', subscriber });
    const mail = { id: `confirm-${random.id(16)}`, subscriber: subscriber.id, news: [{ kind: 'confirm' }] } as const;
    const due = { createdAt: now, nextAttemptAt: now, attempts: 0 };
    store.writeSubscription({ kind: 'mails', events: [], mails: [{ ...mail, ...due }] });
    wake();
  }

  return {
    admits(from) {
      const now = clock.elapsed();
      for (const [one, { since }] of networks) if (now - since > networkMs) networks.delete(one);
      const network = siteOf(from);
      const known = networks.get(network) ?? { count: 0, since: now };
      if (known.count >= mostPerNetwork) return false;
      networks.set(network, known);
      known.count += 1;
      return true;
    },
    request(asked) {
      try {
        request(asked);
      } catch (error) {
        log.error({ err: error, page: asked.page }, 'cannot store a subscription');
      }
    },
    isValid: (purpose, page, token) => subscriberOf(purpose, page, token) !== null,
    follow(purpose, page, token) {
      const subscriber = subscriberOf(purpose, page, token);
      if (subscriber === null) return false;
      if (purpose === 'unsubscribe') remove([subscriber]);
      else if (subscriber.confirmedAt === null)
        store.writeSubscription({ kind: 'subscriber', subscriber: { ...subscriber, confirmedAt: clock.now() } });
      return true;
    },
    list: (page) => store.subscribers(page),
    remove(idOrAddress) {
      const gone = store
        .subscribers()
        .filter(({ id, address }) => id === idOrAddress || address === idOrAddress.toLowerCase());
      if (gone.length === 0)
        throw new WatchpostError(
          'usage',
          `there is no subscriber ${idOrAddress}; list them with \`watchpost status subscribers\``,
        );
      remove(gone);
      return gone;
    },
    removeExpired() {
      const now = clock.now();
      remove(store.subscribers().filter((one) => one.confirmedAt === null && now - one.askedAt > confirmMs));
    },
  };
}
