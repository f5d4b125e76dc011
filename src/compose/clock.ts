import type { Boot } from '#kernel/boot.ts';
import type { Clock } from '#kernel/clock.ts';
import { messageOf } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import { onTick } from '#kernel/ticks.ts';
import { dayMs, describeDuration } from '#kernel/units.ts';
import type { Metrics } from '#metrics/metrics.ts';
import { ownClock } from '#monitor/judge/incident.ts';
import type { Monitor } from '#monitor/monitor.ts';
import type { Store } from '#store/sqlite.ts';

export interface ClockWatchOptions {
  readonly store: Pick<Store, 'clipFuture' | 'lastClock' | 'keepClock'>;
  readonly monitor: Pick<Monitor, 'troubled' | 'past'>;
  readonly metrics: Pick<Metrics, 'clockSet'>;
  readonly boot: Boot | null;
  readonly clock: Clock;
  readonly log: Log;
}

const lookEveryMs = 1_000;
// What NTP steps now and then is no news, and a second may pass between two readings.
const worthLoggingMs = 1_000;
const leastJumpMs = 60_000;
const keepEveryMs = 60_000;
// Over a restart of the machine it may have been off: a short absence says nothing about its clock.
const longestAbsenceMs = 7 * dayMs;

interface Jump {
  readonly byMs: number;
  /** Whether it may be that the machine was off instead. */
  readonly isDoubtful: boolean;
}

/**
 * Watches the wall clock of this machine: a jump is logged, counted, and one of at least a minute is reported once. If it was set back, what is
 * stored of the time after now is made to fit.
 */
export function watchClock(options: ClockWatchOptions): Disposable {
  const { store, monitor, metrics, boot, clock, log } = options;
  const upMs = () => boot?.upMs() ?? clock.elapsed();
  let before = { now: clock.now(), up: upMs() };
  // Since the clock was set forward, until it is set back; null after any other change.
  let ahead: { readonly from: number; readonly byMs: number } | null = null;
  let keptAt = Number.NEGATIVE_INFINITY;
  let timer = onTick(clock, lookEveryMs, look);

  function look(): void {
    timer = onTick(clock, lookEveryMs, look);
    const now = { now: clock.now(), up: upMs() };
    const byMs = now.now - before.now - (now.up - before.up);
    const wasAt = before.now;
    before = now;
    if (Math.abs(byMs) >= worthLoggingMs) jumped({ byMs, isDoubtful: false });
    if (byMs >= leastJumpMs) ahead = ahead === null ? { from: wasAt + byMs, byMs } : null;
    else if (Math.abs(byMs) >= leastJumpMs) ahead = null;
    if (clock.elapsed() - keptAt >= keepEveryMs) keep();
  }

  function jumped({ byMs, isDoubtful }: Jump): void {
    const now = clock.now();
    const [direction, away] = byMs > 0 ? ['forward', 'ahead of'] : ['back', 'behind'];
    const seconds = Math.round(byMs / 1_000);
    log.warn({ seconds, from: timeOf(now - byMs), to: timeOf(now) }, `clock was set ${direction}`);
    metrics.clockSet(byMs);
    if (byMs < 0)
      tryTo('make the history fit the clock', () => {
        const isUndone = ahead !== null && Math.abs(ahead.byMs + byMs) < leastJumpMs;
        store.clipFuture(isUndone && ahead !== null ? { from: ahead.from, byMs: -byMs } : null);
        monitor.past.countBudgets();
      });
    if (Math.abs(byMs) < leastJumpMs) return;
    const [size, from, to] = [describeDuration(Math.abs(byMs)), timeOf(now - byMs), timeOf(now)];
    const reason = isDoubtful
      ? `it is ${size} ${away} the last run of this program, ${from}: the machine was off, or its clock was set`
      : `it was set ${direction} by ${size}, from ${from} to ${to}`;
    const trouble = { name: ownClock, which: 'of this machine', since: now - lookEveryMs } as const;
    monitor.troubled({ ...trouble, reason });
    monitor.troubled({ ...trouble, reason: null });
  }

  function keep(): void {
    keptAt = clock.elapsed();
    const at = clock.now();
    tryTo('store the time', () =>
      store.keepClock({ at, bootId: boot?.id ?? 0, bootAt: boot === null ? 0 : at - boot.upMs() }),
    );
  }

  // A store that fails is reported elsewhere.
  function tryTo(what: string, action: () => void): void {
    try {
      action();
    } catch (error) {
      log.error({ reason: messageOf(error) }, `cannot ${what}`);
    }
  }

  const jump = jumpOverRestart(options);
  if (jump !== null) jumped(jump);
  keep();
  return {
    [Symbol.dispose]() {
      timer[Symbol.dispose]();
      keep();
    },
  };
}

/** How the clock was set since the program ran last; null if it was not, or nothing is known. */
function jumpOverRestart({ store, boot, clock }: ClockWatchOptions): Jump | null {
  const last = store.lastClock();
  if (last === null) return null;
  if (boot !== null && last.bootId === boot.id) {
    const byMs = clock.now() - boot.upMs() - last.bootAt;
    return Math.abs(byMs) >= leastJumpMs ? { byMs, isDoubtful: false } : null;
  }
  const byMs = clock.now() - last.at;
  return byMs <= -leastJumpMs || byMs >= longestAbsenceMs ? { byMs, isDoubtful: byMs > 0 } : null;
}

function timeOf(at: number): string {
  return new Date(at).toISOString().replace(/\.\d+Z$/, 'Z');
}
