import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { messageOf, systemCode } from '#kernel/errors.ts';
import type { CommandContext } from '../shared/command-context.ts';

/** How a command ended. */
export interface CommandExit {
  /** As a shell has it: 128 and the number of the signal if one ended it, 127 if there is no such command. */
  readonly exitCode: number;
  /** The end of what it wrote, and what ended it. */
  readonly tail: string;
}

const tailBytes = 8_192;
const forwarded: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'];
const fromTerminal: readonly string[] = ['SIGINT', 'SIGQUIT'];

/** Runs a command to its end. What it writes goes where ours goes; every signal that comes goes to it. */
export async function runCommand(
  command: string,
  args: readonly string[],
  context: CommandContext,
): Promise<CommandExit> {
  const child = spawn(command, args, { stdio: ['inherit', 'pipe', 'pipe'] });
  const tail = keepTail();
  tail.follow(child.stdout, context.output);
  tail.follow(child.stderr, context.errors);
  // A terminal sends these to the command itself.
  const signals = forwarded.filter((signal) => context.terminal === null || !fromTerminal.includes(signal));
  using _forwarding = context.onSignals(forwarded, (signal) => {
    if (signals.includes(signal)) child.kill(signal);
  });
  return await new Promise((resolve) => {
    child.once('error', (error) => {
      const exitCode = systemCode(error) === 'ENOENT' ? 127 : 126;
      const words = `cannot run ${command}: ${messageOf(error)}`;
      context.printError(`${words}\n`);
      resolve({ exitCode, tail: words });
    });
    child.once('close', (code, signal) => {
      if (signal === null) resolve({ exitCode: code ?? 1, tail: tail.text() });
      else resolve({ exitCode: 128 + constants.signals[signal], tail: `${tail.text()}\nended by ${signal}` });
    });
  });
}

function keepTail() {
  let kept = Buffer.alloc(0);
  return {
    follow(stream: Readable, output: Writable) {
      stream.on('data', (bytes: Buffer) => {
        kept = Buffer.concat([kept, bytes]).subarray(-tailBytes);
      });
      stream.pipe(output, { end: false });
      // Who reads the output may leave; the command goes on.
      output.once('error', () => stream.resume());
    },
    text: () => kept.toString('utf8'),
  };
}
