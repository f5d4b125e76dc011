import { type Clock, sleep } from '#kernel/clock.ts';
import { type Instant, roundTrip } from '../ping/round-trip.ts';
import { type PathSocket, type ProbeAnswer, probeSizes } from './probe-socket.ts';
import { isFinal, type RoundsPlan, type RoundsResult, type SentProbe } from './rounds.ts';

/** The most probes that reach the port itself. */
const mostAtPort = 3;

const shortestMs = 2;
// What comes takes about as long as what came before it.
const spareMs = 300;
const longestWaitMs = 1_000;
const totalMs = 7_000;

export interface SparingOptions {
  readonly plan: Pick<RoundsPlan, 'maxHops' | 'waitMs'>;
  /** Finds how many hops away the destination is by another protocol; null if that does not reach it. Asked at most once. */
  readonly findDistance: (signal: AbortSignal) => Promise<number | null>;
  readonly clock: Clock;
}

/**
 * Sends one probe after another, each a hop farther, until the destination answers or three in a row are not answered: all others were answered
 * by routers, so that no more than these reach the port of a server that ignores them. Beyond three silent routers it goes on only to the
 * distance that another protocol finds. Rejects with the signal's reason when aborted; the socket stays the caller's.
 */
export async function runSparingly(
  socket: PathSocket,
  { plan: { maxHops, waitMs }, findDistance, clock }: SparingOptions,
  signal: AbortSignal,
): Promise<RoundsResult> {
  const probes: SentProbe[] = [];
  const until = clock.elapsed() + totalMs;
  let longestMs: number | null = null;
  let distance: number | null = null;
  let isDistanceKnown = false;
  let left = mostAtPort;
  const result = (lastHop: number | null, errno: number | null): RoundsResult => ({
    probes,
    lastHop,
    errno,
    namelessReplies: 0,
  });
  const now = (): Instant => {
    const elapsedMs = clock.elapsed();
    const wallMs = socket.wallMs();
    return { elapsedMs, wallMs, withinMs: clock.elapsed() - elapsedMs };
  };
  const onAnswer = ({ probe: number, address, kind, stampMs, mtu }: ProbeAnswer, takenAt: Instant) => {
    const probe = probes[number ?? probes.length - 1];
    if (probe === undefined || probe.answer !== null) return;
    const { ms } = roundTrip({ sent: probe.sent, departedMs: null }, stampMs, takenAt);
    longestMs = Math.max(longestMs ?? 0, ms);
    probe.answer = { address, kind, seconds: Math.round(ms * 1_000) / 1e6, ...(mtu !== undefined && { mtu }) };
  };

  for (let hop = 1; hop <= maxHops && clock.elapsed() < until; hop += 1) {
    const { elapsedMs } = now();
    const sending = socket.send(probes.length, hop, probeSizes.small);
    if (!sending.ok) return result(null, sending.errno);
    const sent = { elapsedMs, wallMs: sending.wallMs, withinMs: clock.elapsed() - elapsedMs };
    const probe: SentProbe = { hop, sent, answer: null };
    probes.push(probe);
    const limitMs = Math.min(waitMs, longestMs === null ? longestWaitMs : 3 * longestMs + spareMs);
    for (let waited = 0; probe.answer === null && waited < limitMs; waited = clock.elapsed() - elapsedMs) {
      await sleep(clock, Math.max(shortestMs, waited / 3), signal);
      const takenAt = now();
      socket.drain((answer) => onAnswer(answer, takenAt));
    }
    const found = probes.find(({ answer }) => answer !== null && isFinal(answer.kind));
    if (found !== undefined) return result(found.hop, null);
    if (probe.answer !== null) {
      left = mostAtPort + Math.max((distance ?? 0) - hop - 1, 0);
      continue;
    }
    left -= 1;
    if (left > 0) continue;
    if (isDistanceKnown) break;
    isDistanceKnown = true;
    distance = await findDistance(signal);
    if (distance === null || distance <= hop) break;
    left = distance - hop - 1 + mostAtPort;
  }
  return result(null, null);
}
