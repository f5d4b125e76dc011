import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { testedProgram } from './tested-program.ts';

const root = new URL('../../', import.meta.url).pathname;
const execute = promisify(execFile);
let opened = 0;

/** A real terminal of tmux, with a program in it. */
export interface TerminalWindow extends AsyncDisposable {
  /** What is to be seen, without blanks at the ends of its lines. */
  screen(): Promise<string>;
  press(...keys: readonly string[]): Promise<void>;
  resize(columns: number, rows: number): Promise<void>;
}

/** Opens a terminal of its own, in a server of its own, that runs `watchpost` with these arguments, and stays when that ends. */
export async function openTerminal(
  args: readonly string[],
  { columns = 100, rows = 24 } = {},
): Promise<TerminalWindow> {
  opened += 1;
  const socket = `watchpost-${process.pid}-${opened}`;
  const tmux = async (...words: readonly string[]) => {
    const { stdout } = await execute('tmux', ['-L', socket, '-f', '/dev/null', ...words], { cwd: root });
    return stdout;
  };
  const program = [process.execPath, testedProgram, ...args].map((word) => `'${word}'`).join(' ');
  const size = ['-x', String(columns), '-y', String(rows)];
  await tmux('new-session', '-d', ...size, `env TERM=screen-256color ${program}; echo "ended with $?"; exec sleep 600`);
  return {
    screen: async () => tmux('capture-pane', '-p'),
    press: async (...keys) => void (await tmux('send-keys', ...keys)),
    resize: async (width, height) => void (await tmux('resize-window', '-x', String(width), '-y', String(height))),
    async [Symbol.asyncDispose]() {
      await tmux('kill-server');
    },
  };
}
