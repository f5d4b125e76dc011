import type { Socket } from 'node:net';
import type { MqttClient } from 'mqtt';
import { orAbort } from '#kernel/clock.ts';
import type { Random } from '#kernel/random.ts';
import { singleLine } from '#kernel/text.ts';
import { type ProbeContext, type ProbeEnvironment, startPlain } from '../check.ts';
import { nothingFound, type ServerDetail } from '../database/detail.ts';
import { OpenStream } from '../database/open-stream.ts';
import { asksForTls } from '../database/ports.ts';
import { EarlyEnd, inSession } from '../database/session.ts';
import { endpointOf } from '../endpoint.ts';
import type { Failure, Outcome } from '../outcome.ts';
import { bytesOf, matcherOf } from '../payload.ts';
import { converseOver, type Talk } from '../stream/talk.ts';
import type { Spec } from './spec.ts';
import { ports } from './ports.ts';

export const start = startPlain(probe);

/** Signs in, subscribes, publishes, and waits for a message (MQTT 3.1.1 and 5.0, OASIS). */
async function probe(spec: Spec, context: ProbeContext, environment: ProbeEnvironment): Promise<Outcome<ServerDetail>> {
  const endpoint = endpointOf(spec.host);
  const wishes = typeof spec.tls === 'object' ? spec.tls : { verify: true };
  const tls = spec.tls === false && !asksForTls(endpoint, ports) ? null : { wishes, alpn: [] };
  return converseOver({ endpoint, spec, tls, detail: nothingFound() }, context, environment, async (socket, found) =>
    run(socket, spec, found, environment.random),
  );
}

async function run(socket: Socket, spec: Spec, found: Talk<ServerDetail>, random: Random): Promise<Failure | null> {
  const mqtt = await loadClient();
  const { username, password, version, timeout } = spec;
  const stream = new OpenStream(socket);
  const client = new mqtt.MqttClient(() => stream, {
    protocolVersion: version,
    // MQTT 3.1.1, section 3.1.3.1: servers take 23 letters and digits.
    clientId: `watchpost${random.id(14)}`,
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    clean: true,
    keepalive: 0,
    reconnectPeriod: 0,
    connectTimeout: timeout,
    timerVariant: 'native',
  });
  try {
    const broken = failureOf(client);
    return await inSession<MqttClient>(found, {
      stream,
      async login() {
        await Promise.race([connected(client), broken]);
        return client;
      },
      async query(session) {
        await Promise.race([exchange(session, spec, found), broken]);
      },
      isAnswer: (error) => error instanceof mqtt.ErrorWithReasonCode || error instanceof mqtt.ErrorWithSubackPacket,
    });
  } finally {
    client.end(true);
    stream.destroy();
  }
}

async function exchange(
  client: MqttClient,
  { topic, publish, qos, expect }: Spec,
  { detail, signal }: Talk<ServerDetail>,
): Promise<void> {
  if (topic === undefined) return;
  const matches =
    expect !== undefined
      ? matcherOf(expect)
      : publish === undefined
        ? () => true
        : (message: Buffer) => message.equals(bytesOf(publish));
  const received = new Promise<void>((resolve) => {
    client.on('message', (_, message) => {
      detail.value = singleLine(message.subarray(0, 1_000).toString('utf8'));
      if (matches(message)) resolve();
    });
  });
  await client.subscribeAsync(topic, { qos });
  if (publish !== undefined) await client.publishAsync(topic, bytesOf(publish), { qos });
  await orAbort(received, signal);
}

async function connected(client: MqttClient): Promise<void> {
  return new Promise((resolve) => void client.once('connect', () => resolve()));
}

// Rejects when the connection breaks: the library then leaves what was asked without an answer. It listens on, because an error that
// nothing listens for ends the process.
async function failureOf(client: MqttClient): Promise<never> {
  return new Promise((_, reject) => {
    client.on('error', reject);
    client.once('close', () => reject(new EarlyEnd()));
  });
}

// Loaded only where such a target is checked.
async function loadClient() {
  const { default: mqtt } = await import('mqtt');
  return mqtt;
}
