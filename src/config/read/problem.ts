import { WatchpostError } from '#kernel/errors.ts';
import { type ErrorPath, formatPath } from '#kernel/wording.ts';

/** A point in a file: `order` is the file's place among the files of a run, lines and columns count from 1. */
export interface SourcePosition {
  readonly file: string;
  readonly order: number;
  readonly line: number;
  readonly column: number;
}

/** A mistake in the configuration: its position, its key, and what is wrong. */
export interface Problem {
  readonly place: SourcePosition;
  readonly path: ErrorPath;
  readonly message: string;
}

/** One error for all mistakes of a run, in the order of the files, one line for each. */
export function configError(problems: readonly Problem[]): WatchpostError {
  const lines = problems.toSorted(byPlace).map(lineOf);
  return new WatchpostError('config_invalid', [...new Set(lines)].join('\n'));
}

function byPlace(a: Problem, b: Problem): number {
  return a.place.order - b.place.order || a.place.line - b.place.line || a.place.column - b.place.column;
}

function lineOf({ place, path, message }: Problem): string {
  const about = path.length === 0 ? '' : `${formatPath(path)}: `;
  return `${place.file}:${place.line}:${place.column}: ${about}${message}`;
}
