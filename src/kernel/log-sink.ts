import { fstatSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';

/** Where log lines go. Writing never waits for a reader: unread lines are dropped beyond a bound. */
export interface LogSink {
  write(line: string): void;
}

const mostWaitingBytes = 1_048_576;

/**
 * Lines to a pipe or a socket are written at once if there is room, and wait in memory, up to a mebibyte, if there is none;
 * those beyond are counted, and `onDropped` hears the number once there is room again. Files and terminals are written to directly.
 */
export function createLogSink(fd: 1 | 2, onDropped: (lines: number) => void): LogSink {
  let sink: LogSink | null = null;
  return {
    write(line) {
      sink ??= isPipe(fd) ? pipeSink(fd, onDropped) : fileSink(fd, onDropped);
      sink.write(line);
    },
  };
}

function isPipe(fd: number): boolean {
  const kind = fstatSync(fd);
  return kind.isFIFO() || kind.isSocket();
}

function pipeSink(fd: number, onDropped: (lines: number) => void): LogSink {
  const socket = new Socket({ fd, readable: false, writable: true });
  let dropped = 0;
  let isOver = false;
  // The reader has gone: no line will ever be read again.
  socket.on('error', () => {
    isOver = true;
  });
  socket.on('drain', () => {
    if (dropped === 0) return;
    const lines = dropped;
    dropped = 0;
    onDropped(lines);
  });
  return {
    write(line) {
      if (isOver) return;
      if (socket.writableLength > mostWaitingBytes) dropped += 1;
      else socket.write(line);
    },
  };
}

function fileSink(fd: number, onDropped: (lines: number) => void): LogSink {
  let dropped = 0;
  return {
    write(line) {
      try {
        writeSync(fd, line);
      } catch {
        // A full disk, most of all: the program goes on, and says later what is missing.
        dropped += 1;
        return;
      }
      if (dropped === 0) return;
      const lines = dropped;
      dropped = 0;
      onDropped(lines);
    },
  };
}
