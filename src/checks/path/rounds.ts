import { type Clock, sleep } from '#kernel/clock.ts';
import { type Instant, roundTrip } from '../ping/round-trip.ts';
import { type ProbeAnswer, type PathSocket, probeSizes } from './probe-socket.ts';
import type { PathProtocol } from './path-trace.ts';

/** How the probes of a measurement are spread. */
export interface RoundsPlan {
  readonly protocol: PathProtocol;
  /** The destination. */
  readonly address: string;
  readonly maxHops: number;
  /** Probes for each hop. */
  readonly rounds: number;
  /** From the start of one round to the start of the next, if the first is sent by then. */
  readonly roundMs: number;
  /** How long each probe waits for its answer. */
  readonly waitMs: number;
  /** Whether a probe without an answer counts as lost: then answers to others do not stand in for it. */
  readonly countsLoss: boolean;
}

/** A probe that was sent. */
export interface SentProbe {
  readonly hop: number;
  readonly sent: Instant;
  answer: ProbeArrival | null;
}

/** The answer to a probe, with its round trip. */
export interface ProbeArrival {
  readonly address: string | null;
  readonly kind: ProbeAnswer['kind'];
  readonly seconds: number | null;
  readonly mtu?: number;
}

/** Takes the probes so far whose answers are in or not waited for any more. */
export type InterimListener = (result: RoundsResult) => void;

/** The shortest time from one interim result to the next. */
const interimEveryMs = 200;

/** All probes of a measurement. */
export interface RoundsResult {
  readonly probes: readonly SentProbe[];
  /** The smallest hop whose probe was answered by the destination or refused; null if none was. */
  readonly lastHop: number | null;
  /** Why a probe could not be sent, if one could not: an error number. */
  readonly errno: number | null;
  /** Answers of the destination that do not state their probe. */
  readonly namelessReplies: number;
}

// A few at a time, so that the destination is found before many probes go beyond it, and this thread wakes up rarely; connections are more
// to a destination than packets.
const paces: Readonly<Record<PathProtocol, { readonly atOnce: number; readonly everyMs: number }>> = {
  udp: { atOnce: 4, everyMs: 12 },
  icmp: { atOnce: 4, everyMs: 12 },
  tcp: { atOnce: 2, everyMs: 20 },
};

// Once the destination is found, none goes beyond it, and each router and the destination get one.
const atOnceWithin = 16;

/** How long sending one round may take. */
export function longestSendingMs(protocol: PathProtocol, maxHops: number): number {
  return (Math.ceil(maxHops / paces[protocol].atOnce) + 1) * (paces[protocol].everyMs + shortestMs);
}

// As in a ping, the socket is read late by at most a third of the time since the last probe: the kernel took the times.
const lateness = 1 / 3;
const shortestMs = 1;
const readMs = 6;
const longestMs = 50;
// Of a refused connection the kernel takes no time: what may be refused is watched closely, in the first round as far as so many hops beyond
// the last answer.
const watchedHops = 4;
// Routers that quote only headers answer fast or not at all, when they are asked one by one.
const singleWaitMs = 300;
/** How long asking hop by hop may take. */
export const singleTotalMs = 3_000;

/**
 * Sends the probes of all hops without waiting for answers, in rounds, and reads the answers as they come. Hops beyond the destination
 * are not asked any more once it has answered. Answers that do not state their probe are sorted out at the end, by asking hop by hop.
 * Rejects with the signal's reason when aborted; the socket stays the caller's.
 */
export async function runRounds(
  socket: PathSocket,
  plan: RoundsPlan,
  { clock, onInterim }: { readonly clock: Clock; readonly onInterim?: InterimListener | undefined },
  signal: AbortSignal,
): Promise<RoundsResult> {
  const rounds = new Rounds(socket, plan, clock);
  let passedOn = 0;
  let interimAt = clock.elapsed();
  while (!rounds.isDone) {
    const hasNews = onInterim !== undefined && rounds.answers > passedOn;
    const untilInterim = hasNews ? Math.max(interimAt - clock.elapsed(), shortestMs) : Infinity;
    await sleep(clock, Math.min(rounds.pauseMs(), untilInterim), signal);
    rounds.advance();
    if (rounds.answers === passedOn || clock.elapsed() < interimAt) continue;
    passedOn = rounds.answers;
    interimAt = clock.elapsed() + interimEveryMs;
    onInterim?.(rounds.interim);
  }
  if (rounds.hasNameless) await askOneByOne(rounds, plan, clock, signal);
  return rounds.result;
}

async function askOneByOne(rounds: Rounds, plan: RoundsPlan, clock: Clock, signal: AbortSignal): Promise<void> {
  const until = clock.elapsed() + singleTotalMs;
  for (const hop of rounds.unanswered()) {
    if (clock.elapsed() >= until || hop > rounds.end) return;
    rounds.sendAlone(hop);
    const end = clock.elapsed() + Math.min(plan.waitMs, singleWaitMs);
    while (!rounds.isAloneAnswered && clock.elapsed() < end) {
      await sleep(clock, Math.min(shortestMs * 2, plan.waitMs), signal);
      rounds.read();
    }
  }
}

class Rounds {
  readonly #socket: PathSocket;
  readonly #plan: RoundsPlan;
  readonly #clock: Clock;
  readonly #probes: SentProbe[] = [];
  #round = 0;
  #hop = 1;
  #roundStart: number;
  #sendAt: number;
  #lastSentAt: number;
  #end: number;
  #isEnded = false;
  #endsRefused = false;
  #answers = 0;
  #answeredHop = 0;
  /** Whether answers without a time of the kernel were read as they came. */
  #isWatched = false;
  #nameless = 0;
  #namelessReplies = 0;
  #single: SentProbe | null = null;
  #errno: number | null = null;

  constructor(socket: PathSocket, plan: RoundsPlan, clock: Clock) {
    this.#socket = socket;
    this.#plan = plan;
    this.#clock = clock;
    this.#end = plan.maxHops;
    this.#roundStart = this.#sendAt = this.#lastSentAt = clock.elapsed();
    this.#sendSome();
  }

  get isDone(): boolean {
    if (this.#errno !== null) return true;
    if (!this.#isSent) return false;
    const before = this.#clock.elapsed() - this.#plan.waitMs;
    return this.#probes.every(
      ({ hop, answer, sent }) => answer !== null || hop > this.#end || sent.elapsedMs <= before,
    );
  }

  /** How many probes were answered. */
  get answers(): number {
    return this.#answers;
  }

  get interim(): RoundsResult {
    const before = this.#clock.elapsed() - this.#plan.waitMs;
    const probes = this.#probes.filter(({ answer, sent }) => answer !== null || sent.elapsedMs <= before);
    return { ...this.result, probes };
  }

  get hasNameless(): boolean {
    return this.#nameless > 0;
  }

  /** The hop beyond which nothing is asked. */
  get end(): number {
    return this.#end;
  }

  get result(): RoundsResult {
    return {
      probes: this.#probes,
      lastHop: this.#isEnded ? this.#end : null,
      errno: this.#errno,
      namelessReplies: this.#namelessReplies,
    };
  }

  pauseMs(): number {
    const now = this.#clock.elapsed();
    const watchedAt = this.#watchedSince();
    this.#isWatched = watchedAt !== null;
    const read = watchedAt === null ? Infinity : Math.max((now - watchedAt) * lateness, shortestMs);
    if (this.#isSent) return Math.min(read, Math.max((now - this.#lastSentAt) * lateness, readMs), longestMs);
    return Math.min(read, Math.max(this.#sendAt - now, 0), this.#isWaiting ? longestMs : Infinity);
  }

  advance(): void {
    this.read();
    if (!this.#isSent && this.#clock.elapsed() >= this.#sendAt) this.#sendSome();
  }

  read(): void {
    const takenAt = this.#now();
    this.#socket.drain((answer) => this.#onAnswer(answer, takenAt));
  }

  /** The hops without an answer, up to the end. */
  unanswered(): readonly number[] {
    const answered = new Set(this.#probes.filter(({ answer }) => answer !== null).map(({ hop }) => hop));
    return Array.from({ length: this.#end }, (_, index) => index + 1).filter((hop) => !answered.has(hop));
  }

  /** Sends a probe that answers without a number belong to. */
  sendAlone(hop: number): void {
    this.#single = this.#send(hop);
  }

  /** Whether that probe was answered, or could not even be sent. */
  get isAloneAnswered(): boolean {
    return this.#single === null || this.#single.answer !== null;
  }

  // When the newest of the probes was sent that may be refused; null if there is none.
  #watchedSince(): number | null {
    if (this.#plan.protocol !== 'tcp') return null;
    const farthest = this.#isEnded ? this.#end : this.#answeredHop + watchedHops;
    const mayBeRefused = this.#isEnded ? this.#endsRefused : this.#round === 0;
    if (!mayBeRefused) return null;
    const isOpen = ({ answer, hop }: SentProbe) =>
      answer === null && hop <= farthest && (!this.#isEnded || hop === this.#end);
    return this.#probes.findLast(isOpen)?.sent.elapsedMs ?? null;
  }

  get #isWaiting(): boolean {
    return this.#probes.some(({ answer, hop }) => answer === null && hop <= this.#end);
  }

  get #isSent(): boolean {
    return this.#round >= this.#plan.rounds;
  }

  #sendSome(): void {
    const pace = paces[this.#plan.protocol];
    const atOnce = this.#isEnded ? atOnceWithin : pace.atOnce;
    for (let count = 0; count < atOnce && this.#hop <= this.#end && this.#errno === null; count += 1) {
      this.#send(this.#hop);
      this.#hop += 1;
    }
    this.#lastSentAt = this.#clock.elapsed();
    this.#sendAt = this.#lastSentAt + pace.everyMs;
    if (this.#hop <= this.#end) return;
    this.#round += 1;
    this.#hop = 1;
    this.#roundStart = Math.max(this.#roundStart + this.#plan.roundMs, this.#sendAt);
    this.#sendAt = this.#roundStart;
  }

  #send(hop: number): SentProbe | null {
    const { elapsedMs } = this.#now();
    const sending = this.#socket.send(this.#probes.length, hop, probeSizes.small);
    if (!sending.ok) {
      this.#errno = sending.errno;
      return null;
    }
    const sent = { elapsedMs, wallMs: sending.wallMs, withinMs: this.#clock.elapsed() - elapsedMs };
    const probe: SentProbe = { hop, sent, answer: null };
    this.#probes.push(probe);
    return probe;
  }

  #onAnswer({ probe: number, address, kind, stampMs, seconds, mtu }: ProbeAnswer, takenAt: Instant): void {
    const probe = number === null ? this.#single : this.#probes[number];
    if (number === null) this.#nameless += 1;
    if (number === null && kind === 'reply' && this.#single === null) this.#namelessReplies += 1;
    if (probe === undefined || probe === null || probe.answer !== null) return;
    const { ms } = roundTrip({ sent: probe.sent, departedMs: null }, stampMs, takenAt);
    if (ms > this.#plan.waitMs) return;
    const isTimed = kind !== 'refused' || this.#isWatched;
    const measured = seconds ?? (isTimed ? Math.round(ms * 1_000) / 1e6 : null);
    this.#answers += 1;
    this.#answeredHop = Math.max(this.#answeredHop, probe.hop);
    probe.answer = { address, kind, seconds: measured, ...(mtu !== undefined && { mtu }) };
    if (!isFinal(kind)) return;
    this.#end = Math.min(this.#end, probe.hop);
    this.#isEnded = true;
    this.#endsRefused = kind === 'refused';
  }

  #now(): Instant {
    const elapsedMs = this.#clock.elapsed();
    const wallMs = this.#socket.wallMs();
    return { elapsedMs, wallMs, withinMs: this.#clock.elapsed() - elapsedMs };
  }
}

/** Whether an answer ends the path: with a larger TTL the probe would not get farther. */
export function isFinal(kind: ProbeAnswer['kind']): boolean {
  return kind !== 'time_exceeded' && kind !== 'too_big';
}

/** Whether a probe got to the destination. A port is unreachable at another address too, if a router rejects like that. */
export function hasReached(
  { protocol, address }: Pick<RoundsPlan, 'protocol' | 'address'>,
  answer: ProbeArrival,
): boolean {
  if (answer.kind === 'port_unreachable') return protocol === 'udp' && answer.address === address;
  return answer.kind === 'reply' || answer.kind === 'connected' || answer.kind === 'refused';
}
