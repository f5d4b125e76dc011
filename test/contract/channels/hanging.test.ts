import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { channelTypes } from '#channels/index.ts';
import { systemClock } from '#kernel/clock.ts';
import { createSmtpChannel } from '#channels/smtp.ts';
import { Secret } from '#kernel/secret.ts';
import { type Channel, renewalTimes } from '#monitor/notify/channel.ts';
import { createOutbox } from '#monitor/notify/outbox.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { startSink } from '../../support/http-sink.ts';
import { delivery, shopDown } from '../../support/incidents.ts';
import { smtpServer, template } from '../../support/mails.ts';
import { MemoryDeliveries } from '../../support/memory-deliveries.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { alone } from '../../support/policies.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { tempFolder } from '../../support/store.ts';

const second = 1_000;

/** An outbox with something to tell each of the recipients, in their order. */
function outboxOver(channel: Channel, recipients: readonly string[]) {
  const clock = new FakeClock('2026-01-01T12:01:30Z');
  const store = new MemoryDeliveries();
  const tell = (firstId: number, names: readonly string[]) =>
    names.forEach((recipient, index) => {
      const id = firstId + index;
      const incident = { ...shopDown, id: `t${id}/down/1`, target: `t${id}` };
      const at = clock.now();
      store.add(incident, delivery({ id, incidentId: incident.id, channel: channel.name, recipient, createdAt: at }));
    });
  tell(1, recipients);
  const options = { store, channels: [channel], clock, random: seededRandom(), log: memoryLog().log };
  const outbox = createOutbox({ ...options, policyOf: () => alone, linkTo: () => null });
  outbox.start();
  return {
    clock,
    tell,
    wake: () => outbox.wake(),
    async [Symbol.asyncDispose]() {
      await outbox.stop();
      await channel.close();
    },
  };
}

/** Takes connections and never says a word. */
async function startSilent() {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    sockets,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

test('ten HTTP servers that hang hold up the eleventh recipient for seconds at first, and then not at all', async () => {
  await using silent = await startSilent();
  await using well = await startSink();
  using folder = tempFolder();
  const names = Array.from({ length: 10 }, (_, index) => `hangs${index}`);
  const contacts = [...names, 'well'].map((notify) => ({
    notify,
    entry: {
      url: new Secret(notify === 'well' ? `${well.origin}/` : `http://127.0.0.1:${silent.port}/${notify}`),
      headers: {},
    },
    files: { secret_file: new Secret('secret') },
  }));
  const type = channelTypes.find(({ name }) => name === 'webhook')!;
  const clock = new FakeClock();
  const environment = {
    clock,
    log: memoryLog().log,
    folder: folder.path,
    hostname: 'localhost',
    renewal: renewalTimes,
    devices: null,
  };
  await using place = outboxOver(
    type.open(environment, () => contacts, {}),
    [...names, 'well'],
  );
  await expect.poll(() => silent.sockets.size, { timeout: 20_000 }).toBe(4);
  expect(well.received).toHaveLength(0);
  await place.clock.advance(5 * second);
  await place.clock.advance(5 * second);
  await expect.poll(() => well.received.length, { timeout: 20_000 }).toBe(1);

  // By now they are known: somebody who answers waits for none of them.
  await place.clock.advance(120 * second);
  place.tell(100, [...names, 'well']);
  place.wake();
  await expect.poll(() => well.received.length, { timeout: 20_000 }).toBe(2);
});

test('a mail server that hangs for some recipients holds up the others for seconds', async () => {
  const hangs = createServer((socket) => {
    socket.write('220 hangs for some\r\n');
    let isData = false;
    socket
      .on('error', () => {})
      .on('data', (data) => {
        for (const line of data.toString().split('\r\n')) {
          if (line.startsWith('EHLO')) socket.write('250 hello\r\n');
          else if (line.startsWith('RCPT TO:<hangs')) asked += 1;
          else if (/^(?:MAIL|RCPT)/.test(line)) socket.write('250 ok\r\n');
          else if (line.startsWith('DATA')) {
            isData = true;
            socket.write('354 go on\r\n');
          } else if (isData && line === '.') {
            taken += 1;
            socket.write('250 taken\r\n');
          } else if (line.startsWith('QUIT')) socket.end();
        }
      });
  });
  let asked = 0;
  let taken = 0;
  hangs.listen(0, '127.0.0.1');
  await once(hangs, 'listening');
  const { port } = hangs.address() as AddressInfo;
  const server = smtpServer({ url: `smtp://127.0.0.1:${port}` });
  const channel = createSmtpChannel({ server, template, hostname: 'localhost', clock: systemClock });
  const names = Array.from({ length: 6 }, (_, index) => `hangs${index}@example.com`);
  {
    await using place = outboxOver(channel, [...names, 'well@example.com']);
    await expect.poll(() => asked, { timeout: 20_000 }).toBe(4);
    expect(taken).toBe(0);
    await place.clock.advance(5 * second);
    await expect.poll(() => taken, { timeout: 20_000 }).toBe(1);
  }
  hangs.close();
});
