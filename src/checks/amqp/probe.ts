import type { Socket } from 'node:net';
import { type ProbeContext, type ProbeEnvironment, startPlain } from '../check.ts';
import { nothingFound, type ServerDetail } from '../database/detail.ts';
import { OpenStream } from '../database/open-stream.ts';
import { asksForTls } from '../database/ports.ts';
import { EarlyEnd, inSession } from '../database/session.ts';
import { endpointOf } from '../endpoint.ts';
import { type Failure, failure, type Outcome } from '../outcome.ts';
import { converseOver, type Talk } from '../stream/talk.ts';
import type { OpenAmqpClient } from './client.ts';
import type { Spec } from './spec.ts';
import { ports } from './ports.ts';

export const start = startPlain(probe);

/** Signs in, and declares a queue passively (AMQP 0-9-1, class queue): nothing is made or changed. */
async function probe(spec: Spec, context: ProbeContext, environment: ProbeEnvironment): Promise<Outcome<ServerDetail>> {
  const endpoint = endpointOf(spec.host);
  const wishes = typeof spec.tls === 'object' ? spec.tls : { verify: true };
  const tls = spec.tls === false && !asksForTls(endpoint, ports) ? null : { wishes, alpn: [] };
  return converseOver({ endpoint, spec, tls, detail: nothingFound() }, context, environment, async (socket, found) =>
    run(socket, spec, found),
  );
}

interface QueueCounts {
  readonly messages: number;
  readonly consumers: number;
}

async function run(socket: Socket, spec: Spec, found: Talk<ServerDetail>): Promise<Failure | null> {
  const { OpenAmqpClient, AMQPError } = await loadClient();
  const { queue, vhost, username, password = '' } = spec;
  const stream = new OpenStream(socket);
  const client = new OpenAmqpClient(stream, { vhost, username, password });
  let counts: QueueCounts | null = null;
  try {
    const broken = failureOf(stream);
    const wrong = await inSession<OpenAmqpClient>(found, {
      stream,
      async login() {
        await Promise.race([client.connect(), broken]);
        return client;
      },
      async query(session) {
        if (queue !== undefined) counts = await Promise.race([countsOf(session, queue), broken]);
      },
      isAnswer: (error) => error instanceof AMQPError,
    });
    if (counts !== null) describe(counts, found.detail);
    return wrong ?? (counts === null ? null : unmet(counts, spec));
  } finally {
    stream.destroy();
  }
}

async function countsOf(client: OpenAmqpClient, queue: string): Promise<QueueCounts> {
  const channel = await client.channel();
  const { messageCount, consumerCount } = await channel.queueDeclare(queue, { passive: true });
  return { messages: messageCount, consumers: consumerCount };
}

function describe({ messages, consumers }: QueueCounts, detail: ServerDetail): void {
  detail.rows = messages;
  detail.value = `${messages} messages, ${consumers} consumers`;
}

function unmet(counts: QueueCounts, { queue, expect }: Spec): Failure | null {
  for (const what of ['messages', 'consumers'] as const) {
    const { min, max } = expect[what] ?? {};
    const wanted =
      min !== undefined && counts[what] < min
        ? `at least ${min}`
        : max !== undefined && counts[what] > max
          ? `at most ${max}`
          : null;
    if (wanted !== null)
      return failure('target', 'answer', `the queue ${queue} has ${counts[what]} ${what}, expected ${wanted}`);
  }
  return null;
}

// Rejects when the connection breaks: the library then leaves what was asked without an answer. It listens on, because an error that
// nothing listens for ends the process.
async function failureOf(stream: OpenStream): Promise<never> {
  return new Promise((_, reject) => {
    stream.on('error', reject);
    stream.once('end', () => reject(new EarlyEnd()));
  });
}

// Loaded only where such a target is checked.
async function loadClient() {
  const [{ OpenAmqpClient }, { AMQPError }] = await Promise.all([
    import('./client.ts'),
    import('@cloudamqp/amqp-client'),
  ]);
  return { OpenAmqpClient, AMQPError };
}
