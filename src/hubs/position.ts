/** How far a hub has applied the log. */
export interface LogPosition {
  /** The sequence in the stream of the last message that was read; 0 before the first. */
  readonly sequence: number;
  /** The epoch and the number of the last record that counts. */
  readonly epoch: number;
  readonly n: number;
}

/** Before the first record. */
export const beforeAll: LogPosition = { sequence: 0, epoch: 0, n: 0 };

/** What a record says about its place in the log. */
export interface RecordHead {
  readonly epoch: number;
  /** Counts the records that count, without a gap. */
  readonly n: number;
  /** The sequence that was the stream's last when it was written. */
  readonly after: number;
}

/**
 * `counts`: it is applied. `void`: no hub applies it. `gap`: records before it are missing here. `diverged`: this hub has records
 * that are not in the log any more. After the last two a hub needs a snapshot.
 */
export type RecordEffect = 'counts' | 'void' | 'gap' | 'diverged';

/**
 * Judges a record by its place in the stream. A server accepts a record only if nothing was written since its writer looked;
 * servers 2.9.15 to 2.9.20 may fail to (nats-server #4320), so each reader verifies it.
 */
export function effectOf(position: LogPosition, record: RecordHead, sequence: number): RecordEffect {
  if (sequence !== record.after + 1 || record.epoch < position.epoch) return 'void';
  if (record.n === position.n + 1) return 'counts';
  if (record.n > position.n) return 'gap';
  return record.epoch === position.epoch ? 'void' : 'diverged';
}

/** The position after a message was read. */
export function positionAfter(
  position: LogPosition,
  record: RecordHead,
  sequence: number,
  effect: RecordEffect,
): LogPosition {
  return effect === 'counts' ? { sequence, epoch: record.epoch, n: record.n } : { ...position, sequence };
}

/** Whether the writer of a record may act on it once it is committed: the stream has it, and there it counts. */
export function canAct(record: RecordHead, acknowledged: number): boolean {
  return acknowledged === record.after + 1;
}
