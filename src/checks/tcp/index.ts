import { connect, type Socket } from 'node:net';
import { z } from 'zod';
import { deadline, orAbort } from '#kernel/clock.ts';
import { messageOf, systemCode } from '#kernel/errors.ts';
import { Duration } from '#kernel/units.ts';
import { defineCheck, type NodeEnvironment, type ProbeContext } from '../check.ts';
import { failed, failure, type Outcome, toSeconds } from '../outcome.ts';

const Spec = z.strictObject({
  type: z.literal('tcp'),
  host: z.string().max(512),
  timeout: Duration({ min: '100ms', max: '60s' }).default(5_000),
});
type Spec = z.output<typeof Spec>;

const Detail = z.strictObject({});
type Detail = z.output<typeof Detail>;

export const tcp = defineCheck({
  type: 'tcp',
  summary: 'Opens a TCP connection and takes the time of the handshake.',
  Spec,
  Detail,
  phases: ['resolve', 'connect'],
  facts: [],
  deadlineMs: (spec) => spec.timeout,
  port: (spec) => spec.host.split(':').at(-1) ?? null,
  start: async (environment) => ({
    capability: { able: true },
    probe: async (spec, context) => probe(spec, context, environment),
    close: async () => {},
  }),
  toRow: (outcome) => [
    outcome.status === 'up' ? { time: outcome.seconds, address: outcome.address } : { error: outcome.failure.message },
  ],
  fromRow: () => null,
});

async function probe(spec: Spec, context: ProbeContext, { clock }: NodeEnvironment): Promise<Outcome<Detail>> {
  const [name, port] = spec.host.split(':');
  using limit = deadline(clock, spec.timeout, context.signal);
  const pinned = await context.gate.pin(name ?? '', { signal: limit.signal });
  if (!pinned.ok) return failed(pinned.failure);
  const start = clock.elapsed();
  const socket = connect({ host: pinned.address, port: Number(port) });
  try {
    await orAbort(connected(socket), limit.signal);
    const seconds = toSeconds(clock.elapsed() - start);
    return { status: 'up', seconds, address: pinned.address, phases: { connect: seconds }, facts: {}, detail: {} };
  } catch (error) {
    context.signal.throwIfAborted();
    const code = systemCode(error) === 'ECONNREFUSED' ? 'refused' : 'timeout';
    return failed(failure('target', code, messageOf(error)), { address: pinned.address });
  } finally {
    socket.destroy();
  }
}

async function connected(socket: Socket): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', reject);
  });
}
