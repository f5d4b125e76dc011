import type { Client, ClientChannel } from 'ssh2';
import { singleLine } from '#kernel/text.ts';
import { type Failure, failure } from '../outcome.ts';

const mostOutput = 65_536;
const mostErrors = 4_096;

/** How a command ended; `exit` is null if a signal ended it, or the server did not say. */
export interface CommandResult {
  readonly output: string;
  readonly errors: string;
  readonly exit: number | null;
  readonly signal: string | null;
}

/** Runs a command without a terminal and without input. Rejects with a `RangeError` if it prints more than 64 KiB. */
export async function runCommand(client: Client, command: string): Promise<CommandResult> {
  const channel = await new Promise<ClientChannel>((resolve, reject) => {
    client.exec(command, (error, opened) => (error === undefined ? resolve(opened) : reject(error)));
  });
  return new Promise((resolve, reject) => {
    let output = '';
    let errors = '';
    let exit: number | null = null;
    let signal: string | null = null;
    channel.setEncoding('utf8');
    channel.stderr.setEncoding('utf8');
    channel.on('data', (piece: string) => {
      output += piece;
      if (output.length > mostOutput) reject(new RangeError(`the command printed more than ${mostOutput} bytes`));
    });
    channel.stderr.on('data', (piece: string) => {
      if (errors.length < mostErrors) errors += piece;
    });
    channel.on('exit', (code: number | null, by?: string) => {
      exit = code;
      signal = by ?? null;
    });
    channel.on('error', reject);
    channel.on('close', () => resolve({ output, errors, exit, signal }));
    channel.end();
  });
}

/** What is wrong with how a command ended, or null. */
export function unmetExit({ exit, signal, errors }: CommandResult, expected: number): Failure | null {
  if (exit === expected) return null;
  const said = errors.trim() === '' ? '' : `: ${singleLine(errors, 100)}`;
  const wrong = (how: string) => failure('target', 'exit', `the command ${how}${said}`);
  if (signal !== null) return wrong(`was ended by ${singleLine(signal, 16)}`);
  if (exit === null) return wrong('ended without an exit code');
  return wrong(`ended with exit code ${exit}${expected === 0 ? '' : `, expected ${expected}`}`);
}
