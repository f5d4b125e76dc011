import type { NatsConnection } from '@nats-io/transport-node';
import { askHubs, type HubStatus } from '#hubs/peers.ts';
import { remarksOf } from '#hubs/remarks.ts';
import type { Clock } from '#kernel/clock.ts';
import { messageOf } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';

export interface HubsWatchOptions {
  /** Null without NATS. */
  readonly connection: () => NatsConnection | null;
  /** How the hubs are that can be reached. */
  readonly ask?: typeof askHubs;
  readonly own: () => HubStatus;
  /** How long another hub may be degraded before that is notified. */
  readonly notifyAfterMs: number;
  /**
   * Called once no hub has led for a minute (or for `notifyAfterMs`, if that is shorter) as far as this one can see, with the reason
   * and since when; then with null, once one leads again. Of hubs that reach each other the first by name is called.
   */
  readonly leaderless: (reason: string | null, since: number) => void;
  /** Since when none led by what `leaderless` was called with before a restart, and whose end is to come; or null. */
  readonly reportedSince?: number | null;
  readonly clock: Clock;
  readonly log: Log;
}

/** What is wrong with the hubs, for the one that leads. */
export interface HubTroubles {
  /** The hubs that answered within two days, and this one. */
  readonly names: () => readonly string[];
  /** In words, or null. */
  readonly reasonOf: (name: string) => string | null;
  /** For how long a hub must have been degraded, or healthy again, before the notification. */
  readonly afterMs: (name: string) => number;
  readonly overMs: number;
}

/** The hubs as this one sees them. */
export interface HubsView {
  readonly own: HubStatus;
  /** The hub that leads, if it answers; null if none is known to lead. */
  readonly leader: HubStatus | null;
  /** For how long none has led as far as this one can see; null if one leads. */
  readonly leaderlessMs: number | null;
  /** Other hubs, with what is wrong with each in words, or null. */
  readonly others: readonly { readonly name: string; readonly reason: string | null }[];
}

export interface HubsWatch extends Disposable {
  readonly troubles: HubTroubles;
  view(): HubsView;
}

const longestLookMs = 20_000;
const shortestLookMs = 500;
const leaderlessMs = 60_000;
const steadyMs = 60_000;
// The log is kept for so long: a hub that comes back later begins anew.
const removedMs = 2 * 86_400_000;

interface KnownHub {
  readonly status: HubStatus;
  /** When it answered last, by the monotonic clock. */
  readonly at: number;
  readonly reason: string | null;
}

const noAnswer = 'it does not answer';

/** Asks all hubs now and then: logs at each change what differs and whether none leads, and knows what is to be notified. */
export function watchHubs(options: HubsWatchOptions): HubsWatch {
  const { connection, ask = askHubs, own, notifyAfterMs, clock, log } = options;
  const lookEveryMs = Math.max(shortestLookMs, Math.min(longestLookMs, notifyAfterMs / 4));
  const known = new Map<string, KnownHub>();
  const leadership = watchLeader(options);
  let said = '';
  let isOver = false;
  let timer = clock.after(lookEveryMs, look);

  function look(): void {
    void answering().then((found) => {
      if (isOver) return;
      const others = found.filter(({ name }) => name !== own().name);
      // This hub answers as well: without any answer NATS is away, which says nothing of the other hubs.
      if (found.length > 0) judge(others);
      leadership.judge([...others, own()]);
      timer = clock.after(lookEveryMs, look);
    });
  }

  async function answering(): Promise<readonly HubStatus[]> {
    const current = connection();
    try {
      return current === null ? [] : await ask(current);
    } catch (error) {
      log.debug({ reason: messageOf(error) }, 'cannot ask the other hubs');
      return [];
    }
  }

  function judge(others: readonly HubStatus[]): void {
    const now = clock.elapsed();
    const leader = [...others, own()].find(({ role }) => role === 'leader');
    for (const status of others)
      known.set(status.name, { status, at: now, reason: remarksOf(status, leader).join('; ') || null });
    for (const [name, hub] of known) {
      if (others.some((other) => other.name === name)) continue;
      if (now - hub.at > removedMs) known.delete(name);
      else known.set(name, { ...hub, reason: noAnswer });
    }
    if (own().role === 'leader') logTroubles();
  }

  // Without NATS an incident of its own says so.
  function aloneReason(): string | null {
    const { role, trouble } = own();
    if (role !== 'alone' || connection() === null) return null;
    return `it leads alone, because the log takes no writes${trouble === null ? '' : `: ${trouble}`}`;
  }

  function logTroubles(): void {
    const hubs = Object.fromEntries(
      [...known].flatMap(([name, { reason }]) => (reason === null ? [] : [[name, reason]])),
    );
    const found = Object.keys(hubs).join(' ');
    if (found === said) return;
    said = found;
    if (found === '') log.info('the other hubs are healthy');
    else log.warn({ hubs }, 'other hubs are degraded');
  }

  return {
    troubles: {
      names: () => [own().name, ...known.keys()],
      reasonOf(name) {
        if (name === own().name) return aloneReason();
        const hub = known.get(name);
        return hub === undefined ? noAnswer : hub.reason;
      },
      afterMs: (name) => (name === own().name ? Math.min(leaderlessMs, notifyAfterMs) : notifyAfterMs),
      overMs: Math.min(steadyMs, notifyAfterMs),
    },
    view() {
      const others = [...known.values()];
      const leading = own().role === 'follower' ? others.find(isLeading)?.status : own();
      const leaderlessMs = leadership.lastsMs();
      return {
        own: own(),
        leader: leaderlessMs === null ? (leading ?? null) : null,
        leaderlessMs,
        others: others.map(({ status: { name }, reason }) => ({ name, reason })),
      };
    },
    [Symbol.dispose]() {
      isOver = true;
      timer[Symbol.dispose]();
    },
  };
}

const isLeading = ({ status, reason }: KnownHub) => status.role === 'leader' && reason !== noAnswer;

function watchLeader({ own, notifyAfterMs, leaderless, reportedSince = null, clock, log }: HubsWatchOptions) {
  const afterMs = Math.min(leaderlessMs, notifyAfterMs);
  let since = reportedSince === null ? null : { at: reportedSince, began: clock.elapsed() };
  let isLogged = false;
  let isReported = reportedSince !== null;

  return {
    lastsMs: () => (since === null ? null : clock.elapsed() - since.began),
    judge(hubs: readonly HubStatus[]): void {
      if (hubs.some(({ role }) => role !== 'follower')) {
        if (isLogged) log.info('a hub leads again');
        if (isReported) leaderless(null, clock.now());
        since = null;
        isLogged = isReported = false;
        return;
      }
      since ??= { at: clock.now(), began: clock.elapsed() };
      if (clock.elapsed() - since.began < afterMs) return;
      const { name, trouble } = own();
      const reason = trouble ?? 'none of the hubs that answer takes the lead';
      if (!isLogged) log.error({ reason }, 'no hub leads as far as this one can see: nothing is judged or notified');
      isLogged = true;
      if (isReported || hubs.some((hub) => hub.name < name)) return;
      isReported = true;
      leaderless(reason, since.at);
    },
  };
}
