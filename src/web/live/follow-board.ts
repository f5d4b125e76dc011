import type { Clock } from '#kernel/clock.ts';
import type { Board } from '../state/board.ts';

// As often as a stream says that the program is alive.
const lookMs = 5_000;

/** Calls back at every change of the board, also when nothing is seen of a target any more. */
export function followBoard(
  board: Pick<Board, 'onChange' | 'noteOver'>,
  clock: Pick<Clock, 'after'>,
  listener: () => void,
): Disposable {
  const changes = board.onChange(listener);
  let timer = clock.after(lookMs, function look() {
    board.noteOver();
    timer = clock.after(lookMs, look);
  });
  return {
    [Symbol.dispose]() {
      changes[Symbol.dispose]();
      timer[Symbol.dispose]();
    },
  };
}
