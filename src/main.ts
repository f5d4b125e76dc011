import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { inspect } from 'node:util';
import { runLightCommand } from '#cli/light-commands.ts';
import type { Terminal, CommandContext } from '#cli/shared/command-context.ts';
import { goesOnEveryMs, guardStop } from '#cli/run/stop-guard.ts';
import type { ReadStream, WriteStream } from 'node:tty';
import { messageOf } from '#kernel/errors.ts';
import { nameSourcesInStackTraces } from '#kernel/stack-traces.ts';
import { version } from '#kernel/version.ts';

// The only file that touches the process: arguments, environment, signals, exit.

if (nameSourcesInStackTraces()) {
  // Node would print the line of the bundle as well, and a line there is a whole file.
  process.setUncaughtExceptionCaptureCallback((error) => {
    process.stderr.write(`${inspect(error)}\n\nNode.js ${process.version}\n`);
    process.exit(1);
  });
}

const stop = new AbortController();
const signalNumbers = { SIGINT: 2, SIGTERM: 15 } as const;

function onSignal(signal: keyof typeof signalNumbers): void {
  if (stop.signal.aborted) process.exit(128 + signalNumbers[signal]);
  stop.abort(new Error(signal));
}
process.on('SIGINT', onSignal);
process.on('SIGTERM', onSignal);

const context: CommandContext = {
  env: process.env,
  cwd: process.cwd(),
  version,
  pid: process.pid,
  stop: stop.signal,
  onHangup: (action) => void process.on('SIGHUP', action),
  onSignals,
  guardStop() {
    const guard = guardStop(stop.signal);
    if (guard !== null) setInterval(() => guard.goesOn(), goesOnEveryMs).unref();
    return guard;
  },
  output: process.stdout,
  errors: process.stderr,
  interactive: process.stdout.isTTY,
  hangUp: (pid) => void process.kill(pid, 'SIGHUP'),
  columns: process.stdout.columns || 80,
  rows: process.stdout.rows || 24,
  terminal: process.stdin.isTTY && process.stdout.isTTY ? terminalOf(process.stdin, process.stdout) : null,
  readLine,
  print: (text) => process.stdout.write(text),
  printError: (text) => process.stderr.write(text),
};

// Without a listener a reader that left would end the program: a daemon whose terminal was closed, too.
let isOutputIncomplete = false;
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // Such as head(1): it has what it wanted.
  if (error.code === 'EPIPE' || isOutputIncomplete) return;
  isOutputIncomplete = true;
  process.exitCode ||= 1;
  process.stderr.write(`watchpost: the output is incomplete: ${messageOf(error)}\n`);
});
// There is no other place to say it.
process.stderr.on('error', () => {});

const exitCode = await runCommand(process.argv.slice(2));
process.exitCode = exitCode === 0 && isOutputIncomplete ? 1 : exitCode;

// A log without a reader must not keep the process.
setTimeout(() => process.exit(), 1_000).unref();

async function runCommand(args: readonly string[]): Promise<number> {
  const code = await runLightCommand(args, context);
  if (code !== null) return code;
  const { runProgram } = await import('#cli/run-program.ts');
  return runProgram(args, context);
}

function onSignals(signals: readonly NodeJS.Signals[], action: (signal: NodeJS.Signals) => void): Disposable {
  for (const signal of signals) {
    process.off(signal, onSignal);
    process.on(signal, action);
  }
  return {
    [Symbol.dispose]() {
      for (const signal of signals) process.off(signal, action);
      for (const signal of ['SIGINT', 'SIGTERM'] as const) if (signals.includes(signal)) process.on(signal, onSignal);
    },
  };
}

async function readLine(question: string): Promise<string> {
  const isTerminal = process.stdin.isTTY;
  if (isTerminal) process.stderr.write(question);
  // What is typed is echoed to nowhere.
  const output = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output, terminal: isTerminal });
  try {
    for await (const line of lines) return line;
    return '';
  } finally {
    lines.close();
    if (isTerminal) process.stderr.write('\n');
  }
}

function terminalOf(input: ReadStream, output: WriteStream): Terminal {
  return {
    size: () => ({ columns: output.columns, rows: output.rows }),
    onResize(action) {
      output.on('resize', action);
      return { [Symbol.dispose]: () => void output.off('resize', action) };
    },
    onKey(action) {
      // A sequence comes as one; what is typed quickly, or pasted, may come together.
      const hear = (data: Buffer) => {
        const text = data.toString();
        for (const key of text.startsWith('\u{1b}') ? [text] : text) action(key);
      };
      input.setRawMode(true).resume().on('data', hear);
      return { [Symbol.dispose]: () => void input.off('data', hear).pause().setRawMode(false) };
    },
  };
}
