import { onTestFinished } from 'vitest';
import { createReader } from '#history/create-reader.ts';
import { historyRoutes } from '#web/history.ts';
import { join } from 'node:path';
import { serveWeb } from './web.ts';
import { FakeClock } from './fake-clock.ts';
import { down, openAt, opening, round, start, tempFolder, up, vote } from './store.ts';

export const minute = 60_000;

/** The history routes over a store with ten rounds of a target, one of them down, and an open incident of another. */
export async function serveHistory() {
  const folder = tempFolder();
  const clock = new FakeClock(new Date(start + 10 * minute).toISOString());
  const store = openAt(join(folder.path, 'watchpost.db'), clock);
  const targets = ['mail', 'shop'].map((name) => ({
    name,
    check: 'tcp',
    host: name,
    labels: name === 'shop' ? { team: 'web' } : {},
    objective: null,
  }));
  const history = createReader({ source: store.history, targets: () => targets, clock });
  const server = await serveWeb({
    plugins: [historyRoutes({ history, clock })],
  });
  onTestFinished(async () => {
    await server.close();
    await store.close();
    folder[Symbol.dispose]();
  });
  const stored: Promise<unknown>[] = [];
  for (let index = 0; index < 10; index += 1) {
    const verdict = { status: index === 5 ? 'down' : 'up', inMaintenance: false, holdsMs: 2 * minute } as const;
    const votes = [vote('de1', index === 5 ? down() : up(0.02))];
    stored.push(store.record(round('shop', start + index * minute, { votes, verdict })));
  }
  stored.push(store.record(opening('mail', start + 5 * minute)));
  await clock.advance(2_000);
  await Promise.all(stored);
  return `http://127.0.0.1:${server.addr().port}`;
}
