import type { Clock } from '#kernel/clock.ts';
import type { Observation } from '#protocol/watching.ts';

/** Results on their way to the hub. */
export interface OutgoingResults {
  /** `isNews`: it goes at once, or with the next news. */
  add(result: Observation, isNews: boolean): void;
  /** Sends everything that waits. */
  flush(): void;
}

// A result that is no news waits so long for others, or until there are so many.
const longestMs = 1_000;
const mostTogether = 256;
// News goes at once, but not in more messages than this: on a bad day everything is news.
const newsEveryMs = 100;

/** Gathers results to messages; news is in messages of its own. */
export function createOutgoing(
  clock: Clock,
  send: (results: readonly Observation[], isNews: boolean) => void,
): OutgoingResults {
  let waiting: Observation[] = [];
  let news: Observation[] = [];
  let timer: Disposable | null = null;
  let newsTimer: Disposable | null = null;
  let newsSentAt = Number.NEGATIVE_INFINITY;

  function flushOthers(): void {
    timer?.[Symbol.dispose]();
    timer = null;
    if (waiting.length === 0) return;
    const results = waiting;
    waiting = [];
    send(results, false);
  }

  // What waits of the same targets goes along: the hub takes a later result of a target as a sign that no earlier one comes.
  function flushNews(): void {
    newsTimer?.[Symbol.dispose]();
    newsTimer = null;
    if (news.length === 0) return;
    const targets = new Set(news.map(({ target }) => target));
    const results = [...waiting.filter(({ target }) => targets.has(target)), ...news];
    if (results.length > news.length) waiting = waiting.filter(({ target }) => !targets.has(target));
    news = [];
    newsSentAt = clock.elapsed();
    send(results, true);
  }

  return {
    add(result, isNews) {
      const some = isNews ? news : waiting;
      some.push(result);
      const waitMs = isNews ? newsSentAt + newsEveryMs - clock.elapsed() : longestMs;
      const flush = isNews ? flushNews : flushOthers;
      if (waitMs <= 0 || some.length >= mostTogether) flush();
      else if (isNews) newsTimer ??= clock.after(waitMs, flush);
      else timer ??= clock.after(waitMs, flush);
    },
    flush() {
      flushNews();
      flushOthers();
    },
  };
}
