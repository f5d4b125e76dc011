import { pino } from 'pino';
import type { Log } from '#kernel/log.ts';

export interface LogLine {
  readonly level: number;
  readonly msg: string;
  readonly [field: string]: unknown;
}

/** A log that keeps its lines. */
export function memoryLog(level = 'info'): {
  readonly log: Log;
  readonly lines: LogLine[];
  errors(): readonly string[];
} {
  const lines: LogLine[] = [];
  const log = pino({ base: null, level }, { write: (line) => void lines.push(JSON.parse(line) as LogLine) });
  return { log, lines, errors: () => lines.filter(({ level }) => level >= 50).map(({ msg }) => msg) };
}
