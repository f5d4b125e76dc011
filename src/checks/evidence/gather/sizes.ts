import type { EvidenceDocument } from '../detail.ts';
import type { Outcome } from '../../outcome.ts';
import { Spec as PingSpec } from '../../ping/spec.ts';
import { type GatherContext, PartUnavailableError } from './context.ts';

const smallPayload = 56;
// An Ethernet frame holds 1500 bytes: 20 or 40 of them are the IP header, 8 that of ICMP.
const fullBytes = 1_500;
const largePayload = { 4: fullBytes - 28, 6: fullBytes - 48 } as const;

/** Whether echo requests that must not be split are answered, small and large; null if a message says why a large one is not. */
export async function gatherSizes({ plan, context, tools }: GatherContext): Promise<EvidenceDocument['sizes']> {
  const { pinger } = tools;
  if (plan.path === null) return null;
  if (!pinger.capability.able) throw new PartUnavailableError(pinger.capability.reason);
  const pinned = await context.gate.pin(plan.name, { family: plan.family, signal: context.signal });
  if (!pinned.ok) throw new PartUnavailableError(pinned.failure.message);
  const echo = async (size: number) => {
    const options = { count: 3, interval: '300ms', timeout: '1500ms', dont_fragment: true };
    const spec = PingSpec.parse({ type: 'ping', host: pinned.address, size, ...options });
    return pinger.probe(spec, context);
  };
  const [small, large] = await Promise.all([echo(smallPayload), echo(largePayload[pinned.family])]);
  if (!isSilentOrUp(small) || !isSilentOrUp(large)) return null;
  return { small: small.status === 'up', large: large.status === 'up', largeBytes: fullBytes };
}

const isSilentOrUp = (outcome: Outcome) => outcome.status === 'up' || outcome.failure.code === 'timeout';
