/** How far one clock is ahead of another, as questions to the other side tell it; in milliseconds. */
export interface ClockOffset {
  /** What is known by now; null before the first answer. */
  readonly ms: number | null;
  /** An answer came: `now` when it did, after `tookMs`, and it says that it was `theirs` there meanwhile. */
  heard(answer: { readonly now: number; readonly tookMs: number; readonly theirs: number }): void;
}

// What a clock may drift from another one meanwhile, and more.
const driftShare = 0.0005;

/**
 * The truth lies within half of the time that a question took, to both sides: the two ways may take as differently as that, if a
 * machine or the link is busy. So an answer counts only if it is finer than what is known, or contradicts that; what is
 * known gets coarser as it ages.
 */
export function measureClockOffset(elapsed: () => number): ClockOffset {
  let known: { readonly ms: number; readonly withinMs: number; readonly at: number } | null = null;
  return {
    get ms() {
      return known?.ms ?? null;
    },
    heard({ now, tookMs, theirs }) {
      const at = elapsed();
      const withinMs = tookMs / 2;
      const ms = now - withinMs - theirs;
      if (known !== null) {
        const agedMs = known.withinMs + (at - known.at) * driftShare;
        const isContradicted = Math.abs(ms - known.ms) > withinMs + agedMs;
        if (withinMs >= agedMs && !isContradicted) return;
      }
      known = { ms, withinMs, at };
    },
  };
}
