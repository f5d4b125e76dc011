import { expect, test } from 'vitest';
import type { CheckRunner } from '#compose/checking.ts';
import { openReplaceableChecking } from '#compose/replaceable.ts';
import type { Config } from '#config/config.ts';
import { CheckSpec } from '#checks/index.ts';
import type { WatchedTarget, WatchHandle } from '#monitor/watch/runner.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { seededRandom } from '../../support/seeded-random.ts';

type NodeSettings = Parameters<typeof openReplaceableChecking>[0];

const settings = (url: string) =>
  ({ nodes: [], nats: null, foreignService: { url } }) as unknown as NodeSettings & Config;

/** Parts that run checks, by the address in their settings; what they do is written down. */
function createWorld(open: (url: string) => Promise<void>, close: (url: string) => Promise<void>) {
  const clock = new FakeClock();
  const { log, lines } = memoryLog();
  const done: string[] = [];
  const partOf = (url: string) =>
    ({
      runner: {
        url,
        watch({ name }: WatchedTarget): WatchHandle {
          done.push(`${url} watches ${name}`);
          const { promise: ended, resolve } = Promise.withResolvers<void>();
          return { ended, underWay: false, stop: resolve, cut: resolve };
        },
      },
      runs: null,
      nodes: () => [],
      notReady: () => [],
      close: async () => close(url),
    }) as unknown as CheckRunner;
  const openPart = async ({ foreignService }: NodeSettings): Promise<CheckRunner> => {
    const url = String(foreignService?.url);
    await open(url);
    return partOf(url);
  };
  const environment = { clock, random: seededRandom(1), log, version: '0.0.0', pid: 1 };
  const told = { nodeAbsent() {}, unjudged() {}, verdictOf: () => null, pastChanged() {} };
  return {
    clock,
    lines,
    done,
    start: async () => openReplaceableChecking(settings('a'), environment, null, told, openPart),
  };
}

const shop = {
  name: 'shop',
  spec: CheckSpec.parse({ type: 'tcp', host: 'shop.example.com:443' }),
  schedule: { kind: 'every', everyMs: 60_000 },
  nodes: { kind: 'all' },
} as const;
const listener = { round: () => false, skipped() {}, mayBeginExtra: () => true, hasVerdict: () => true } as never;
const never = async () => new Promise<void>(() => {});

test.each([
  { name: 'hangs', close: never, waitMs: 5_000, says: 'the last check runner does not close' },
  {
    name: 'fails',
    close: async () => Promise.reject(new Error('no such connection')),
    waitMs: 0,
    says: 'cannot close the last check runner',
  },
])('targets are watched by the next part if the last one $name while it closes', async ({ close, waitMs, says }) => {
  const { clock, lines, done, start } = createWorld(async () => {}, close);
  const checking = await start();
  checking.runner.watch(shop, listener);
  const apply = await checking.prepare(settings('b'));
  apply();
  await clock.advance(waitMs);
  await clock.advance(1_000);
  expect(done).toEqual(['a watches shop', 'b watches shop']);
  expect(lines.map(({ msg }) => msg)).toContainEqual(expect.stringContaining(says));
});

test('a part that does not open is given up after a minute, and opened again', async () => {
  let hangs = true;
  const late = Promise.withResolvers<void>();
  const closed: string[] = [];
  const { clock, lines, done, start } = createWorld(
    async (url) => (url === 'b' && hangs ? late.promise : Promise.resolve()),
    async (url) => void closed.push(url),
  );
  const checking = await start();
  checking.runner.watch(shop, listener);
  const apply = await checking.prepare(settings('b'));
  apply();
  await clock.advance(60_000);
  expect(lines).toContainEqual(
    expect.objectContaining({ msg: 'cannot start the check runner; retrying', reason: 'it was not open within 60 s' }),
  );
  hangs = false;
  await clock.advance(10_000);
  expect(done).toEqual(['a watches shop', 'b watches shop']);
  late.resolve();
  await clock.advance(0);
  // The one that came too late is closed, the one that is used is not.
  expect(closed).toEqual(['a', 'b']);
});
