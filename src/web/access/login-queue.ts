import type { Clock } from '#kernel/clock.ts';
import { NewestEntries } from '#kernel/newest-entries.ts';

/** Lets passwords be compared, some at a time, in turns by network. */
export interface LoginQueue {
  /** Resolves to what `compare` gives; to `busy` if the network has too many waiting, or waits for too long. Rejects as `compare` does. */
  run<Result>(network: string, compare: () => Promise<Result>): Promise<Result | 'busy'>;
  /** Notes that a user of this network has logged in: it comes first from now on. */
  remember(network: string): void;
}

interface LoginAttempt {
  begin(): void;
  refuse(): void;
}

const atOnce = 2;
const mostWaitingPerNetwork = 3;
const mostWaiting = 1_000;
const longestWaitMs = 30_000;
const mostRemembered = 1_000;
const tickMs = 10;
// Timers are late by a bit everywhere.
const usualTickMs = 12;
const restShare = 4;
const longestRestMs = 5_000;
const strainedMs = 100;

/**
 * A comparison takes a tenth of a second of CPU on purpose (scrypt, RFC 7914), so that guessing is slow; two run at a time. Attempts
 * of many addresses must not keep a user out: each network has its turn, and networks with a login before come first.
 *
 * Nor may they take what all else needs where there is little CPU: if this thread was held up meanwhile, the next comparisons for
 * networks without a login wait for four times as long as that, and run one at a time if that was more than a tenth of a second.
 */
export function createLoginQueue(clock: Clock): LoginQueue {
  const waiting = new Map<string, LoginAttempt[]>();
  const remembered = new NewestEntries<string, true>(mostRemembered);
  let running = 0;
  let resting = 0;
  let isStrained = false;
  let count = 0;

  function next(): void {
    while (running < atOnce) {
      const networks = [...waiting.keys()];
      const stranger = resting === 0 && (running === 0 || !isStrained) ? networks[0] : undefined;
      const network = networks.find((one) => remembered.has(one)) ?? stranger;
      if (network === undefined) return;
      const attempts = waiting.get(network) ?? [];
      const attempt = attempts.shift();
      // To the end of the line: the next turn is that of another network.
      waiting.delete(network);
      if (attempts.length > 0) waiting.set(network, attempts);
      count -= 1;
      running += 1;
      attempt?.begin();
    }
  }

  function rest(ms: number): void {
    if (ms <= 0) return;
    resting += 1;
    clock.after(Math.min(ms, longestRestMs), () => {
      resting -= 1;
      next();
    });
  }

  function leave(network: string, attempt: LoginAttempt): boolean {
    const attempts = waiting.get(network) ?? [];
    const place = attempts.indexOf(attempt);
    if (place === -1) return false;
    attempts.splice(place, 1);
    if (attempts.length === 0) waiting.delete(network);
    count -= 1;
    return true;
  }

  async function waitForTurn(network: string): Promise<boolean> {
    const attempts = waiting.get(network) ?? [];
    if (attempts.length >= mostWaitingPerNetwork || (count >= mostWaiting && !remembered.has(network))) return false;
    return new Promise((resolve) => {
      const attempt: LoginAttempt = {
        begin() {
          limit[Symbol.dispose]();
          resolve(true);
        },
        refuse: () => resolve(false),
      };
      const limit = clock.after(longestWaitMs, () => {
        if (leave(network, attempt)) attempt.refuse();
      });
      attempts.push(attempt);
      waiting.set(network, attempts);
      count += 1;
      next();
    });
  }

  return {
    async run(network, compare) {
      if (!(await waitForTurn(network))) return 'busy';
      const holdUp = watchHoldUp(clock);
      try {
        return await compare();
      } finally {
        running -= 1;
        const lateMs = holdUp.end();
        isStrained = lateMs > strainedMs;
        if (!remembered.has(network)) rest(restShare * lateMs);
        next();
      }
    },
    remember: (network) => remembered.set(network, true),
  };
}

/** Watches for how long this thread is held up. */
function watchHoldUp(clock: Clock) {
  const began = clock.elapsed();
  let ticks = 1;
  let timer = clock.after(tickMs, tick);
  function tick(): void {
    ticks += 1;
    timer = clock.after(tickMs, tick);
  }
  return {
    /** In milliseconds. */
    end(): number {
      timer[Symbol.dispose]();
      return Math.max(0, clock.elapsed() - began - ticks * usualTickMs);
    },
  };
}
