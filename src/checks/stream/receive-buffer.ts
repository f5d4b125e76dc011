import type { Clock } from '#kernel/clock.ts';

/** What has been read of an answer so far, and whether it is the expected one. */
export interface StreamBuffer extends Disposable {
  readonly bytes: Buffer;
  /** Takes the next piece. `onMatch` may be called then, or a little later. */
  take(piece: Buffer): void;
  /** True if there is room for no more. */
  readonly full: boolean;
  /** Examines the new bytes: whether they complete the expected answer. */
  look(): boolean;
}

export const receiveLimit = 65_536;

// Short answers are examined with every piece.
const eagerBytes = 4_096;
// Longer ones when they have grown by a quarter, or when so much time has gone by.
const growth = 1.25;
const pauseMs = 20;

/**
 * Gathers an answer in pieces. A target may send it byte by byte: all of it is looked at each time, so that is not done with
 * every piece, and the work stays in proportion to the answer's length.
 */
export function createReceiveBuffer(
  matches: (answer: Buffer) => boolean,
  clock: Clock,
  onMatch: () => void,
): StreamBuffer {
  const buffer = Buffer.alloc(receiveLimit);
  let length = 0;
  let seen = 0;
  let matched = false;
  let later: Disposable | null = null;

  const look = (): boolean => {
    later?.[Symbol.dispose]();
    later = null;
    if (matched || seen === length) return matched;
    seen = length;
    matched = matches(buffer.subarray(0, length));
    return matched;
  };
  const reportMatch = () => {
    if (!matched && look()) onMatch();
  };
  return {
    get bytes() {
      return buffer.subarray(0, length);
    },
    get full() {
      return length === receiveLimit;
    },
    take(piece) {
      length += piece.copy(buffer, length);
      if (length <= eagerBytes || length >= seen * growth || length === receiveLimit) reportMatch();
      else later ??= clock.after(pauseMs, reportMatch);
    },
    look,
    [Symbol.dispose]: () => later?.[Symbol.dispose](),
  };
}
