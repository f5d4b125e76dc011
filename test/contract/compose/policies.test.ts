import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { policiesOf } from '#compose/delivery.ts';
import { loadConfig } from '#config/load.ts';
import { createOutbox } from '#monitor/notify/outbox.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { delivery, shopDown } from '../../support/incidents.ts';
import { MemoryDeliveries } from '../../support/memory-deliveries.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { RecordingChannel } from '../../support/recording-channel.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { tempFolder } from '../../support/store.ts';

const minute = 60_000;
const address = 'ann@example.com';

test('a recipient under two names is notified as the name says by which the target names it', async () => {
  using folder = tempFolder();
  const path = join(folder.path, 'watchpost.yaml');
  await writeFile(
    path,
    `
notify:
  boss: { email: { to: [${address}] }, after: 1h }
  ops: { email: { to: [${address}] } }
targets:
  shop: { check: tcp, host: "127.0.0.1:9", notify: [ops] }
  blog: { check: tcp, host: "127.0.0.1:9", notify: [boss] }
`,
  );
  const config = await loadConfig({ path, env: {} });
  const clock = new FakeClock('2026-01-01T12:01:30Z');
  const store = new MemoryDeliveries();
  const email = new RecordingChannel();
  const outbox = createOutbox({
    store,
    channels: [email],
    clock,
    random: seededRandom(),
    log: memoryLog().log,
    policyOf: policiesOf(() => config),
    linkTo: () => null,
  });
  const told = () => email.attempts.flatMap(({ message }) => message.incidents.map(({ target }) => target));
  for (const [index, target] of ['shop', 'blog', 'own database'].entries()) {
    const incident = { ...shopDown, id: `${target}/down/1`, target };
    store.add(incident, delivery({ id: index + 1, incidentId: incident.id, recipient: address }));
  }
  outbox.start();
  await clock.advance(minute);
  expect(told()).toEqual(['shop', 'own database']);
  await clock.advance(58 * minute);
  expect(told()).toHaveLength(2);
  await clock.advance(1.5 * minute);
  expect(told()).toEqual(['shop', 'own database', 'blog']);
  await outbox.stop();
});
