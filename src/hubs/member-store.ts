import type { LogPosition } from './position.ts';

/** The database of a hub, as far as the log is concerned. */
export interface MemberStore {
  /** Null if it never was one of several hubs. */
  position(): LogPosition | null;
  move(position: LogPosition): void;
  apply(writes: readonly unknown[], position: LogPosition): void;
  /** The records that the log does not have yet, oldest first. */
  backlog(): readonly Uint8Array[];
  /** The log has the oldest of them. */
  backlogSent(position: LogPosition): void;
}
