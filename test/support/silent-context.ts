import { PassThrough } from 'node:stream';
import type { CommandContext } from '#cli/shared/command-context.ts';

/** What a command gets from outside in tests: no terminal, no environment, and nobody reads what it prints. */
export function silentContext(): CommandContext {
  return {
    env: {},
    cwd: new URL('../../', import.meta.url).pathname,
    version: '1.2.3',
    pid: process.pid,
    stop: new AbortController().signal,
    onHangup: () => {},
    guardStop: () => null,
    onSignals: () => ({ [Symbol.dispose]: () => {} }),
    output: new PassThrough().resume(),
    errors: new PassThrough().resume(),
    interactive: false,
    hangUp: () => {},
    columns: 80,
    rows: 24,
    terminal: null,
    readLine: async () => '',
    print: () => {},
    printError: () => {},
  };
}
