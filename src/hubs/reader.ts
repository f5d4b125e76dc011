import type { Log } from '#kernel/log.ts';
import type { MemberStore } from './member-store.ts';
import { beforeAll, effectOf, type LogPosition, positionAfter } from './position.ts';
import { decodeRecord, type LogRecord } from './record.ts';
import type { LogSession } from './session.ts';

/** The log does not lead from this database to the present. */
export class SnapshotNeeded extends Error {}

/** Reads the log in the order of the stream, and applies what counts. */
export interface LogReader {
  readonly position: LogPosition;
  /** Whether the next record is of a newer version: it is not applied, and this hub must not lead. */
  readonly isBehindVersion: boolean;
  /**
   * Reads to the end. Records that `isKnown` recognizes are applied here already. Rejects with `SnapshotNeeded` if records are missing.
   */
  catchUp(session: LogSession, isKnown?: (record: LogRecord) => boolean): Promise<void>;
  /** Compares the position with what the stream has. Throws `SnapshotNeeded` if it has dropped what comes next. */
  verify(bounds: { readonly first: number; readonly last: number }): void;
  /** Something else than this reader moved the position. */
  moved(position: LogPosition): void;
}

// Requests on their way together: few for a follower that is up to date, more and more for one that is behind.
const mostAtOnce = 32;

export function createReader(store: MemberStore, log: Log): LogReader {
  let position = store.position() ?? beforeAll;
  let isBehindVersion = false;

  function take(bytes: Uint8Array, sequence: number, isKnown: (record: LogRecord) => boolean): void {
    const record = decodeRecord(bytes);
    if (record === 'newer') {
      if (!isBehindVersion) log.error({ sequence }, 'a newer version wrote to the log of the hubs: upgrade this hub');
      isBehindVersion = true;
      return;
    }
    isBehindVersion = false;
    const effect = record === null ? 'void' : effectOf(position, record, sequence);
    if (record !== null && effect !== 'counts' && isKnown(record)) position = { ...position, sequence };
    else if (effect === 'gap' || effect === 'diverged')
      throw new SnapshotNeeded(`record ${record?.n ?? 0} of the log follows ${position.n} here (${effect})`);
    else if (record !== null && effect === 'counts') {
      const next = positionAfter(position, record, sequence, effect);
      store.apply(record.writes, next);
      position = next;
    } else {
      log.debug({ sequence }, 'void record of the log skipped');
      position = { ...position, sequence };
    }
  }

  return {
    get position() {
      return position;
    },
    get isBehindVersion() {
      return isBehindVersion;
    },
    async catchUp(session, isKnown = () => false) {
      if (store.position() === null) return;
      for (let done = 0; ;) {
        const width = Math.min(mostAtOnce, Math.max(1, done));
        const from = position.sequence + 1;
        const sequences = Array.from({ length: width }, (_, index) => from + index);
        const messages = await Promise.all(sequences.map(async (sequence) => session.read(sequence)));
        for (const [index, bytes] of messages.entries()) {
          if (bytes === null) return;
          take(bytes, from + index, isKnown);
          if (isBehindVersion) return;
        }
        done += width;
      }
    },
    verify({ first, last }) {
      if (position.sequence > last) {
        log.warn(
          { read: position.sequence, last },
          'the log of the hubs is shorter than what was read of it; reading it again',
        );
        position = { ...position, sequence: Math.max(0, first - 1) };
        store.move(position);
      } else if (position.sequence + 1 < first)
        throw new SnapshotNeeded(`the log begins with message ${first}, and ${position.sequence} was read last`);
    },
    moved(next) {
      position = next;
    },
  };
}
