import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { readRun, verdictOf } from '../bench/days/record.ts';
import { systems } from '../bench/days/systems/index.ts';
import { mortal } from '../support/children.ts';
import { namespaceObstacle } from '../support/network-namespace.ts';

// The shortest day of `npm run bench days`, with the other systems that are installed here. For them the
// test checks only that they take part and are judged.

const obstacle = namespaceObstacle();
// Then the bench gets SIGTERM, on which it ends what it has started.
const limitMs = 200_000;
const bench = fileURLToPath(new URL('../bench/main.ts', import.meta.url));

test.skipIf(obstacle !== null && process.env['CI'] === undefined)(
  `a bad day of Watchpost and others${obstacle === null ? '' : `: ${obstacle}`}`,
  async () => {
    if (obstacle !== null) throw new Error(obstacle);
    await using folder = await mkdtempDisposable(join(tmpdir(), 'watchpost-day-'));
    const file = join(folder.path, 'run.json');
    const words = ['--no-warnings', bench, 'days', '--only', 'short', '--save', file];
    const child = mortal(
      spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'pipe'], signal: AbortSignal.timeout(limitMs) }),
    );
    const output = Promise.all([text(child.stdout), text(child.stderr)]);
    const [code] = (await once(child, 'exit')) as [number | null];
    expect(code, (await output).join('')).toBe(0);

    const { versions, days } = readRun(file);
    if (process.env['CI'] !== undefined) expect(Object.keys(versions)).toEqual(systems.map(({ name }) => name));
    const results = days.flatMap((day) => day.results);
    expect(results.map(({ system }) => system)).toEqual(Object.keys(versions));
    for (const result of results) {
      const isOurs = result.system.startsWith('Watchpost');
      if (isOurs) expect(verdictOf(result), result.system).toBe('all');
      else expect(result.verdict.came, result.system).toBeGreaterThan(0);
      expect(result.history === null || !('fault' in result.history), JSON.stringify(result.history)).toBe(true);
    }
  },
);
