import type { ResultBatch, UnreadBatch } from './ports.ts';

/** What is read first, then, and last. */
export type Lane = 'news' | 'live' | 'history';

/** A message that was not read yet, or not to its end. */
export interface LaneEntry {
  readonly node: string;
  readonly lane: Lane;
  readonly bytes: number;
  readonly unread: UnreadBatch | null;
  /** Null until it is parsed. */
  batch: ResultBatch | null;
  /** When it came: monotonic, and by the wall clock. */
  readonly came: number;
  readonly cameAt: number;
  next: number;
  isOvertaken: boolean;
}

const mostBytes = 32_000_000;

export const isUnread = ({ unread, batch }: LaneEntry) => unread !== null && batch === null;

/** The messages that wait to be read, in each lane the oldest first. */
export class InboxLanes {
  readonly news: LaneEntry[] = [];
  readonly live: LaneEntry[] = [];
  readonly history: LaneEntry[] = [];
  /** Healthy results of other machines that came so far, those that were read, and those that were not and are gone. */
  readonly healthy = { came: 0, read: 0, skipped: 0 };
  #bytes = 0;

  /** What is to be read next. */
  get next(): LaneEntry | undefined {
    return this.news[0] ?? this.live[0] ?? this.history[0];
  }

  /** The oldest message of each lane that is live. */
  get heads(): Readonly<Record<'news' | 'live', LaneEntry | undefined>> {
    return { news: this.news[0], live: this.live[0] };
  }

  /** What has to go so that there is room for the others; undefined if there is room. */
  get surplus(): LaneEntry | undefined {
    const oldest = this.history[0] ?? this.live[0] ?? this.news[0];
    const isFull = oldest !== undefined && this.#bytes > mostBytes && this.#bytes > oldest.bytes;
    return isFull ? oldest : undefined;
  }

  /** Unread live messages of the node of this one, each only once. */
  overtakenBy({ node }: LaneEntry): readonly UnreadBatch[] {
    return this.live.flatMap((one) => {
      if (one.node !== node || !isUnread(one) || one.isOvertaken) return [];
      one.isOvertaken = true;
      return one.unread ?? [];
    });
  }

  /** Unread live messages whose results were all due by then, in milliseconds since the epoch, and `first`. */
  dueBefore(moment: number, first: LaneEntry): readonly LaneEntry[] {
    return this.live.filter(
      (one) => one === first || (isUnread(one) && (one.unread?.due.until ?? one.cameAt) <= moment),
    );
  }

  push(one: LaneEntry): void {
    this[one.lane].push(one);
    this.#bytes += one.bytes;
    if (one.lane === 'live') this.healthy.came += one.unread?.results ?? 0;
  }

  /** Takes out what was read to its end. */
  finish(one: LaneEntry): void {
    this.#remove(one, 'read');
  }

  /** Takes out what was not. */
  skip(one: LaneEntry): void {
    this.#remove(one, 'skipped');
  }

  #remove(one: LaneEntry, as: 'read' | 'skipped'): void {
    if (one.lane === 'live') this.healthy[as] += one.unread?.results ?? 0;
    const lane = this[one.lane];
    if (lane[0] === one) lane.shift();
    else lane.splice(lane.indexOf(one), 1);
    this.#bytes -= one.bytes;
  }
}
