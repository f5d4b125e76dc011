import type { MemberStore } from './member-store.ts';
import { type LogReader, SnapshotNeeded } from './reader.ts';
import { decodeRecord, encodeRecord, isSameRecord, type LogRecord } from './record.ts';
import type { LogSession } from './session.ts';

// Records that a hub wrote while it was alone: the log gets them when it is back, if no other hub led meanwhile.

/** Sends them in order. Resolves to whether the log has all of them. */
export async function sendBacklog(session: LogSession, store: MemberStore, reader: LogReader): Promise<boolean> {
  for (const bytes of store.backlog()) {
    const record = decodeRecord(bytes);
    if (record === null || record === 'newer') throw new SnapshotNeeded('the backlog is of another version');
    const after = reader.position.sequence;
    const sequence = await session.append(encodeRecord({ ...record, after }), after);
    if (sequence === null || sequence !== after + 1) return false;
    const moved = { ...reader.position, sequence };
    store.backlogSent(moved);
    reader.moved(moved);
  }
  return true;
}

/** Whether a record of the log is the oldest of the backlog: it arrived although no answer came. Then it is no backlog any more. */
export function isOfBacklog(record: LogRecord, store: MemberStore, reader: LogReader): boolean {
  const [oldest] = store.backlog();
  const own = oldest === undefined ? null : decodeRecord(oldest);
  if (own === null || own === 'newer' || !isSameRecord(own, record)) return false;
  store.backlogSent({ ...reader.position, sequence: record.after + 1 });
  return true;
}

/** What the records of the backlog write. */
export function writesOf(backlog: readonly Uint8Array[]): readonly unknown[] {
  return backlog.flatMap((bytes) => {
    const record = decodeRecord(bytes);
    return record === null || record === 'newer' ? [] : record.writes;
  });
}
