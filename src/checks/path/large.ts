import { type Clock, sleep } from '#kernel/clock.ts';
import { type ProbeAnswer, type PathSocket, probeSizes } from './probe-socket.ts';
import type { LargePackets } from './path-trace.ts';

export interface LargeResult {
  /** As in `PathTrace`. */
  readonly mtu: number | null;
  readonly large: LargePackets | null;
}

export interface LargePlan {
  readonly maxHops: number;
  readonly waitMs: number;
}

const nothing: LargeResult = { mtu: null, large: null };
const tries = 2;
const mostReductions = 4;
const shortestMs = 2;
// All together wait at most so many times as long as one.
export const mostWaits = 3;

/**
 * Measures over echo requests that must not be split how large packets may be on the way (RFC 1191, RFC 8201). Large packets count as
 * lost only if a small one is answered right before and right after they were not.
 */
export async function measureLarge(
  socket: PathSocket,
  { maxHops, waitMs }: LargePlan,
  clock: Clock,
  signal: AbortSignal,
): Promise<LargeResult> {
  const begun = clock.elapsed();
  let number = 0;
  let longestMs = waitMs;
  const answers = new Map<number, ProbeAnswer>();
  const read = () => socket.drain((answer) => answer.probe !== null && answers.set(answer.probe, answer));

  function send(size: number, ttl: number): number | null {
    number += 1;
    return socket.send(number, ttl, size).ok ? number : null;
  }

  async function ask(size: number): Promise<ProbeAnswer | null> {
    const start = clock.elapsed();
    const probe = start - begun > mostWaits * waitMs ? null : send(size, maxHops);
    if (probe === null) return null;
    for (let waited = 0; waited < longestMs; waited = clock.elapsed() - start) {
      await sleep(clock, Math.max(shortestMs, waited / 3), signal);
      read();
      const answer = answers.get(probe);
      if (answer !== undefined) return answer;
    }
    return null;
  }

  async function lastHopOfLarge(): Promise<number | null> {
    const sent = Array.from({ length: maxHops }, (_, index) => ({
      hop: index + 1,
      probe: send(probeSizes.large, index + 1),
    }));
    const start = clock.elapsed();
    while (clock.elapsed() - start < longestMs) {
      await sleep(clock, longestMs / 4, signal);
      read();
    }
    return sent.findLast(({ probe }) => probe !== null && answers.has(probe))?.hop ?? null;
  }

  if ((await ask(probeSizes.small))?.kind !== 'reply') return nothing;
  // What comes takes about as long as the first answer, however long others may wait.
  longestMs = Math.min(waitMs, 3 * (clock.elapsed() - begun) + 100);
  let size: number = probeSizes.large;
  let answer: ProbeAnswer | null = null;
  let reductions = 0;
  for (let left = tries; left > 0 && answer === null; left -= 1) {
    answer = await ask(size);
    if (answer?.kind !== 'too_big' || answer.mtu === undefined || answer.mtu >= size) continue;
    if (reductions >= mostReductions) break;
    size = answer.mtu;
    reductions += 1;
    left = tries + 1;
    answer = null;
  }
  const isReduced = size < probeSizes.large;
  if (answer?.kind === 'reply')
    return { mtu: size, large: { result: isReduced ? 'too_big' : 'passed', last_hop: null } };
  if (isReduced) return { mtu: size, large: { result: 'too_big', last_hop: null } };
  if (answer !== null || (await ask(probeSizes.small))?.kind !== 'reply') return nothing;
  return { mtu: null, large: { result: 'lost', last_hop: await lastHopOfLarge() } };
}
