import type { Clock } from '#kernel/clock.ts';
import { goldenRatio } from '#kernel/hash.ts';
import type { Observation } from '#protocol/watching.ts';
import type { GrantedIntake } from './grant.ts';
import { countEach } from './stored-rounds.ts';
import { InboxLanes, isUnread, type Lane, type LaneEntry } from './inbox-lanes.ts';
import type { ResultBatch, UnreadBatch } from './ports.ts';

export interface InboxOptions {
  readonly clock: Clock;
  /** Reads the results of this part, and calls `confirm` for each of them. `isBehind` says that they have waited for too long, parsed: more comes in than is judged. */
  readonly read: (batch: ResultBatch, from: number, to: number, isBehind: boolean) => void;
  /** There is no room for the rest of it, from this result on. */
  readonly giveUp: (batch: ResultBatch, from: number) => void;
  /** These have waited for too long and are not read: healthy results, the oldest first. */
  readonly skip: (batches: readonly UnreadBatch[]) => void;
  /** Newer results of the same node are read before this batch, for they are news. */
  readonly overtaken: (batch: UnreadBatch) => void;
}

/**
 * What came and was not read yet. Reading never holds up the thread for long:
 *
 * 1. news (results that are down, unknown or not as before) is read first, then healthy results, then what is minutes old; each in
 *    the order in which it came;
 * 2. results of other machines wait as the bytes that came, and are parsed when it is their turn;
 * 3. healthy results that waited for eight seconds are skipped unread, for all nodes alike those of the same due times: a round
 *    either has its votes or is skipped.
 */
export interface Inbox extends Disposable {
  add(node: string, observations: readonly Observation[], confirm: ResultBatch['confirm'], isNews?: boolean): void;
  addUnread(batch: UnreadBatch): void;
  /** Nothing is read before this was called. */
  open(): void;
  /** All live results that came up to this moment are read, in milliseconds since the epoch. */
  readonly readUntil: number;
  /** What nodes of other machines have sent so far. */
  readonly intake: GrantedIntake;
}

// So long one turn reads at the most, more or less.
const turnMs = 5;
const atOnce = 16;
const behindMs = 2_000;
const longestLiveMs = 8_000;
// A node sends again by itself what has no receipt after a minute and a half.
const longestHistoryMs = 60_000;
// Results that were due so long before they came were kept during an absence.
const historyMs = 60_000;
// What a parsed result takes.
const resultBytes = 1_600;

export function createInbox({ clock, read, giveUp, skip, overtaken }: InboxOptions): Inbox {
  const lanes = new InboxLanes();
  let isOpen = false;
  let openedAt = 0;
  let timer: Disposable | null = null;
  let reading: LaneEntry | null = null;
  /** When the turn began that still reads what comes at once. */
  let turnBegan = Number.NEGATIVE_INFINITY;
  let skips = 0;

  const waitedMs = (one?: LaneEntry) => (one === undefined ? 0 : clock.elapsed() - Math.max(one.came, openedAt));

  function readSome(one: LaneEntry, batch: ResultBatch): void {
    const from = one.next;
    one.next = Math.min(from + atOnce, batch.observations.length);
    reading = one;
    // Of what waits as bytes, the surplus is skipped before it is parsed.
    read(batch, from, one.next, one.unread === null && waitedMs(one) > behindMs);
    reading = null;
  }

  function work(): void {
    timer = null;
    const now = clock.elapsed();
    // Messages that come one after the other share a turn.
    if (now - turnBegan > 2 * turnMs) turnBegan = now;
    skipOld();
    for (let one = lanes.next; one !== undefined; one = lanes.next) {
      if (!readAll(one)) return rest();
      lanes.finish(one);
    }
  }

  // False if the turn is over before.
  function readAll(one: LaneEntry): boolean {
    if (one.batch === null) {
      if (clock.elapsed() - turnBegan >= turnMs) return false;
      if (one.lane === 'news') lanes.overtakenBy(one).forEach(overtaken);
      one.batch = countEach(one.unread?.read() ?? null);
    }
    while (one.batch !== null && one.next < one.batch.observations.length) {
      if (clock.elapsed() - turnBegan >= turnMs) return false;
      readSome(one, one.batch);
    }
    return true;
  }

  function rest(): void {
    timer = clock.after(0, () => {
      turnBegan = clock.elapsed();
      work();
    });
  }

  function skipOld(): void {
    const [live] = lanes.live;
    if (live !== undefined && isUnread(live) && waitedMs(live) > longestLiveMs) skipLive(live);
    for (const one of lanes.history.filter((one) => isUnread(one) && waitedMs(one) > longestHistoryMs)) drop(one);
  }

  // All that was due before some moment, so that rounds have all votes or none. The moment is another one each time: the same targets
  // would be skipped for ever if their interval were that of the overload.
  function skipLive(first: LaneEntry): void {
    skips += 1;
    const dueBefore = clock.now() - longestLiveMs * ((skips * goldenRatio) % 1);
    const old = lanes.dueBefore(dueBefore, first);
    for (const one of old) lanes.skip(one);
    skip(old.flatMap(({ unread }) => unread ?? []));
  }

  function drop(one: LaneEntry): void {
    lanes.skip(one);
    if (one.batch !== null) giveUp(one.batch, one.next);
    else if (one.unread !== null) postpone(one.unread, overtaken);
  }

  function makeRoom(): void {
    for (let oldest = lanes.surplus; oldest !== undefined; oldest = lanes.surplus) {
      if (oldest.lane === 'live' && isUnread(oldest)) skipLive(oldest);
      else drop(oldest);
    }
  }

  function push(one: Pick<LaneEntry, 'node' | 'lane' | 'bytes' | 'unread' | 'batch'>): void {
    lanes.push({ ...one, came: clock.elapsed(), cameAt: clock.now(), next: 0, isOvertaken: false });
    if (isOpen && timer === null) work();
    makeRoom();
  }

  return {
    add(node, observations, confirm, isNews = false) {
      const batch = countEach({ node, observations, confirm });
      push({ node, lane: isNews ? 'news' : 'live', bytes: observations.length * resultBytes, unread: null, batch });
    },
    addUnread(unread) {
      const { node, bytes } = unread;
      push({ node, lane: laneOf(unread, clock.now()), bytes, unread, batch: null });
    },
    open() {
      if (isOpen) return;
      isOpen = true;
      openedAt = clock.elapsed();
      work();
    },
    get readUntil() {
      // Asked for with each target that is judged.
      const { news, live } = lanes.heads;
      return Math.min(clock.now(), reading?.cameAt ?? Infinity, news?.cameAt ?? Infinity, live?.cameAt ?? Infinity);
    },
    get intake() {
      return { ...lanes.healthy, waitedMs: isOpen ? Math.max(...Object.values(lanes.heads).map(waitedMs)) : 0 };
    },
    [Symbol.dispose]() {
      timer?.[Symbol.dispose]();
      isOpen = false;
    },
  };
}

// What is missing until it comes again is not the fault of the node.
function postpone(unread: UnreadBatch, overtaken: InboxOptions['overtaken']): void {
  overtaken(unread);
  unread.postpone();
}

function laneOf({ due, isNews }: UnreadBatch, now: number): Lane {
  if (due.until < now - historyMs) return 'history';
  return isNews ? 'news' : 'live';
}
