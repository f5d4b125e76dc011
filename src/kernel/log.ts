import { createRequire } from 'node:module';
import { pino, type Logger } from 'pino';
import type * as Pretty from 'pino-pretty';
import { createLogSink, type LogSink } from './log-sink.ts';

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

/**
 * A log that never holds up its program: see `createLogSink`. Lines in JSON have their level as a word. What has been written
 * when the process ends has left it, as far as anybody reads.
 */
export function createLog({ level, pretty: forPeople, fd }: LogOptions): Log {
  const sink = createLogSink(fd, (lines) => log.warn({ lines }, 'dropped log lines: output is blocked'));
  const log: Log = forPeople
    ? pino({ level }, prettyStream(sink))
    : pino(
        {
          level,
          base: null,
          timestamp: pino.stdTimeFunctions.isoTime,
          formatters: { level: (word) => ({ level: word }) },
        },
        sink,
      );
  return log;
}

function prettyStream(sink: LogSink): LogSink {
  // A daemon without a terminal has no use for it.
  const { prettyFactory } = createRequire(import.meta.url)('pino-pretty') as typeof Pretty; // oxlint-disable-line typescript/no-unsafe-type-assertion -- the package has these types
  const format = prettyFactory({ ignore: 'pid,hostname', colorize: true });
  return { write: (line) => sink.write(format(line) ?? '') };
}
