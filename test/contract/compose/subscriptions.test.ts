import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openSubscriptions } from '#compose/subscriptions.ts';
import { loadConfig } from '#config/load.ts';
import { systemRandom } from '#kernel/random.ts';
import { builtInLanguages, englishOf } from '#languages/languages.ts';
import { subscriberMail } from '#subscriptions/subscriber-mail.ts';
import { linkToken } from '#subscriptions/subscriptions.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { incident, openAt, round, tempFolder } from '../../support/store.ts';
import { closedPort } from '../../support/tcp-servers.ts';

const minute = 60_000;
const english = englishOf(builtInLanguages);
const page = { title: 'Example', url: 'http://x/status', linkTo: () => 'http://x/' };

/** A status page with a confirmed subscriber, whose mails wait for a mail server that is away. */
async function openPage() {
  const stack = new AsyncDisposableStack();
  const folder = stack.use(tempFolder());
  const path = join(folder.path, 'watchpost.yaml');
  writeFileSync(
    path,
    `data: ./watchpost.db
http: { public_url: http://x }
smtp: { url: "smtp://127.0.0.1:${await closedPort()}", from: "Example <status@example.com>" }
targets:
  shop: { check: tcp, host: "192.0.2.1:80" }
pages:
  status: { title: Example, targets: { shop: Web shop }, subscribe: true }`,
  );
  const config = await loadConfig({ path, env: {} });
  const clock = new FakeClock();
  const store = openAt(join(folder.path, 'watchpost.db'), clock);
  stack.defer(async () => store.close());
  const { log } = memoryLog();
  const opened = openSubscriptions({ store, inForce: () => config, clock, random: systemRandom, log });
  opened.subscriptions.request({ page: 'status', address: 'ann@example.com', language: 'en' });
  const [ann = expect.unreachable()] = store.subscribers();
  opened.subscriptions.follow('confirm', 'status', linkToken(ann, 'confirm'));
  for (const { id } of store.dueMails(clock.now(), 10)) store.writeSubscription({ kind: 'mail settled', id });
  await clock.advance(minute);
  return {
    clock,
    store,
    start: () => stack.use(opened.start(() => true)),
    subjects: () =>
      store.dueMails(Number.MAX_SAFE_INTEGER, 10).map((mail) => subscriberMail(mail, ann, page, english).subject),
    [Symbol.asyncDispose]: async () => stack.disposeAsync(),
  };
}

test('subscribers are not told that a service works again if its rule was removed while it was down', async () => {
  await using opened = await openPage();
  const { clock, store, start, subjects } = opened;
  const at = clock.now();
  const record = async (more: Parameters<typeof incident>[2]) => {
    const stored = store.record(
      round('shop', clock.now(), { incidents: [incident('shop', at, { startedAt: at, ...more })] }),
    );
    await clock.advance(2_000);
    await stored;
  };
  await record({});
  start();
  await clock.advance(minute);
  expect(subjects()).toEqual([expect.stringMatching(/^Example: Web shop has not been working since /)]);
  await record({ endedAt: clock.now(), closing: 'rule_removed' });
  await clock.advance(10 * minute);
  expect(subjects()).not.toContainEqual(expect.stringContaining('is working again'));
  expect(subjects()).toContainEqual(
    expect.stringMatching(/^Example: Web shop is checked in another way now; its incident of .* is closed\.$/),
  );
});
