import { pino, type Logger } from 'pino';
import pretty from 'pino-pretty';

/** A structured log. Fields come first, then one sentence: `log.warn({ target }, 'round skipped')`. */
export type Log = Logger;

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

export interface LogOptions {
  readonly level: LogLevel;
  /** True for lines that people read, false for JSON. */
  readonly pretty: boolean;
  /** File descriptor to write to. */
  readonly fd: 1 | 2;
}

/** Writes are synchronous, so that the last line before an exit is never lost. */
export function createLog({ level, pretty: forPeople, fd }: LogOptions): Log {
  if (forPeople)
    return pino({ level }, pretty({ destination: fd, sync: true, ignore: 'pid,hostname', colorize: true }));
  return pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination({ dest: fd, sync: true }),
  );
}
