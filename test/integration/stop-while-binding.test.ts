import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { mortal } from '../support/children.ts';
import { eventually } from '../support/program.ts';
import { tempFolder } from '../support/store.ts';
import { testedProgram } from '../support/tested-program.ts';

// A thread that is ended while it binds functions of the C library aborts the process, with a report on its standard error.

const slowBinding = new URL('../fixtures/slow-binding.mjs', import.meta.url).href;
// More than the program waits for a reader of its log before it ends.
const untilItEndsMs = 2_000;

/** The program, in which the thread of that name binds functions as long as it is held. */
function createSlowProgram(slowThread: string) {
  const folder = tempFolder();
  const at = (name: string) => join(folder.path, name);
  const config = at('watchpost.yaml');
  writeFileSync(
    config,
    `data: ${at('watchpost.db')}
http: { listen: "127.0.0.1:0" }
targets: { shop: { check: tcp, host: "127.0.0.1:1" } }
`,
  );
  return {
    hold: () => writeFileSync(at('hold'), ''),
    letGo: () => rmSync(at('hold')),
    binds: async () => eventually(60_000, () => expect(existsSync(at('binds'))).toBe(true)),
    start() {
      const child = mortal(
        spawn(process.execPath, [testedProgram, 'run', '--config', config], {
          env: {
            ...process.env,
            NODE_OPTIONS: `--import=${slowBinding}`,
            SLOW_THREAD: slowThread,
            SLOW_FOLDER: folder.path,
          },
          stdio: ['ignore', 'ignore', 'pipe'],
        }),
      );
      let output = '';
      child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text));
      const closed = once(child, 'close');
      return {
        send: (signal: NodeJS.Signals) => void child.kill(signal),
        logged: async (text: string) => eventually(60_000, () => expect(output).toContain(text)),
        /** Its exit code and signal, and what is on its standard error besides the log. */
        ended: async (): Promise<readonly unknown[]> => {
          const [code, signal] = await closed;
          return [code, signal, output.split('\n').filter((line) => line !== '' && !line.startsWith('{'))];
        },
      };
    },
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
}

describe.skipIf(process.platform !== 'linux').concurrent('the program does not abort', { timeout: 180_000 }, () => {
  test('if it has stopped while the thread that guards the stop binds', async () => {
    using slow = createSlowProgram('stop guard');
    const running = slow.start();
    await running.logged('"watching"');
    slow.hold();
    running.send('SIGTERM');
    await running.logged('"stopped"');
    await pause(untilItEndsMs);
    slow.letGo();
    expect(await running.ended()).toEqual([0, null, []]);
  });

  test('if a second signal ends it while the thread that guards the stop binds', async () => {
    using slow = createSlowProgram('stop guard');
    slow.hold();
    const running = slow.start();
    await slow.binds();
    running.send('SIGINT');
    running.send('SIGTERM');
    await pause(untilItEndsMs);
    slow.letGo();
    expect(await running.ended()).toEqual([143, null, []]);
  });

  test('if it stops while the thread of a node binds, for longer than it waits for nodes', async () => {
    using slow = createSlowProgram('node zz1');
    slow.hold();
    const running = slow.start();
    await slow.binds();
    running.send('SIGTERM');
    await running.logged('node did not stop in time and was terminated');
    slow.letGo();
    expect(await running.ended()).toEqual([0, null, []]);
  });
});
