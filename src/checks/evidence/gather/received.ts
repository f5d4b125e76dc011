import { DeadlineError, orAbort } from '#kernel/clock.ts';
import { singleLine } from '#kernel/text.ts';
import { converse as converseByDatagrams } from '../../datagram.ts';
import type { Failure } from '../../outcome.ts';
import { within } from '../../reach.ts';
import { converse } from '../../stream/conversation.ts';
import { presets } from '../../udp/presets.ts';
import type { ReceivedEvidence } from '../detail.ts';
import { type GatherContext, PartUnavailableError } from './context.ts';
import { createExcerpt } from './response.ts';

const longestMs = 7_000;
const datagramMs = 3_000;

/** What the target sends in the dialogue of the check; null if there is none. */
export async function gatherReceived(given: GatherContext): Promise<ReceivedEvidence | null> {
  if (given.plan.datagram !== undefined) return gatherDatagram(given, given.plan.datagram);
  const { plan, context, tools, redaction } = given;
  if (plan.dialogue === undefined || plan.dialogue.steps.length === 0) return null;
  const { port, steps, tls } = plan.dialogue;
  const { clock } = tools.environment;
  return within(
    { family: plan.family, limitMs: Math.min(plan.timeoutMs, longestMs) },
    context,
    tools.environment,
    async (network) => {
      const pinned = await network.pin(plan.name);
      if (!pinned.ok) throw new PartUnavailableError(redaction.text(pinned.failure.message));
      return network.connect(pinned, port, async (connection) => {
        if (!connection.ok) throw new PartUnavailableError(redaction.text(connection.failure.message));
        const excerpt = createExcerpt();
        let isEnded = false;
        const findings = { phases: {}, facts: {}, detail: { answer: null, tls: null } };
        const wrong = await converse(steps, connection.socket, {
          tls: { ...tls, verify: false },
          name: plan.name,
          findings,
          clock,
          arrivedAt: connection.arrivedAt,
          signal: network.signal,
          onBytes: (bytes) => excerpt.take(bytes),
          onEnd: () => (isEnded = true),
        });
        return {
          bytes: excerpt.bytes,
          text: excerpt.text(redaction),
          closed: isEnded || (wrong !== null && closing.has(wrong.code)),
          failure: messageOf(wrong, given),
          protocol: 'tcp' as const,
          isSilent: !isEnded && network.signal.aborted && network.signal.reason instanceof DeadlineError,
        };
      });
    },
  );
}

const closing: ReadonlySet<string> = new Set(['closed', 'reset']);

function messageOf(wrong: Failure | null, { redaction }: GatherContext): string | null {
  return wrong === null ? null : singleLine(redaction.text(wrong.message));
}

type DatagramPlan = NonNullable<GatherContext['plan']['datagram']>;

async function gatherDatagram(
  { plan, context, tools: { environment }, redaction }: GatherContext,
  { port, payload }: DatagramPlan,
): Promise<ReceivedEvidence> {
  const { clock, random, localAddress } = environment;
  const pinned = await context.gate.pin(plan.name, { family: plan.family, signal: context.signal });
  if (!pinned.ok) throw new PartUnavailableError(redaction.text(pinned.failure.message));
  const { address, family } = pinned;
  const exchange = converseByDatagrams<Buffer>(
    { address, family, port },
    {
      clock,
      signal: context.signal,
      localAddress: localAddress[family],
      sendAtMs: [0, datagramMs / 3],
      timeoutMs: datagramMs,
      verify: (ends) => context.gate.verify(pinned, ends),
      make: () => (typeof payload === 'string' ? presets[payload].make(random) : payload),
      read: (datagram) => Buffer.from(datagram),
    },
  );
  const answer = await orAbort(exchange, context.signal);
  const excerpt = createExcerpt();
  if (answer.kind === 'reply') excerpt.take(answer.reply);
  return {
    bytes: excerpt.bytes,
    text: excerpt.text(redaction),
    closed: answer.kind === 'failed' && answer.failure.code === 'refused',
    failure:
      answer.kind === 'reply'
        ? null
        : answer.kind === 'failed'
          ? singleLine(redaction.text(answer.failure.message))
          : 'no reply',
    protocol: 'udp',
    isSilent: answer.kind === 'silent',
  };
}
