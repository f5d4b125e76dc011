import { errors, type NatsConnection } from '@nats-io/transport-node';
import type { Clock } from '#kernel/clock.ts';
import { messageOf } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import { readJson } from '#kernel/json.ts';
import { agree, protocolRange, type Report, reportEveryMs, subjectsOf, WelcomeMessage } from '#protocol/nodes.ts';
import { measureClockOffset } from './clock-offset.ts';
import { isTimeout } from './unanswered.ts';

/** What a process of a node reports, besides what registration itself knows. */
export type ReportedState = Omit<Report, 'protocol' | 'phase' | 'clockOffsetMs' | 'roundTripMs'>;

export interface RegistrationOptions {
  readonly name: string;
  readonly log: Log;
  readonly clock: Clock;
  readonly answerMs: number;
  /** How the node is now. */
  readonly state: () => ReportedState;
  readonly connection: () => NatsConnection | null;
  /** Called with each report after which the hub takes the node, and with the version that both speak. */
  readonly onWelcome: (connection: NatsConnection, version: number) => void;
  /** Whether a hub is to take results over this connection; default: always. Otherwise it is no trouble if none does. */
  readonly isNeeded?: () => boolean;
  /** Called when no hub takes results. */
  readonly onUnwelcome: () => void;
  /** Called when a hub that is there has not answered in time. */
  readonly onSilent: () => void;
  /** Called when the hub does not take the node at all. */
  readonly onClosed: () => void;
  /** Called when the node's key is not wanted, with how long that has been so. */
  readonly onRefused: (reason: string, forMs: number) => void;
}

// Three reports. With a quarter of a processor a hub of 20,000 results a second stood still for seven seconds.
const longestSilenceMs = 20_000;

/** How the node stands with its hub. */
export interface RegistrationSession {
  /** Reports in after so many milliseconds, and then again and again. */
  reportIn(ms: number): void;
  /** The hub was heard by something other than an answer to a report. */
  heard(): void;
  /** The connection is lost: on the next one the node joins anew. */
  disconnected(): void;
  /** No hub takes results, for this reason. */
  hubLost(reason: string): void;
  /** How far the clock of the node is ahead of the hub's; null until measured. */
  readonly clockOffsetMs: number | null;
  /** No more reports. */
  stop(): void;
  /** Says that the node ends. */
  sayGoodbye(): Promise<void>;
}

/** Reports to the hub on arrival and every few seconds, and measures the clock by it. */
export function createRegistration(options: RegistrationOptions): RegistrationSession {
  const { name, log, clock } = options;
  const clockOffset = measureClockOffset(() => clock.elapsed());
  let roundTripMs: number | null = null;
  let isServing = false;
  let isStopping = false;
  let trouble: string | null = null;
  let strangerSince: number | null = null;
  let next: Disposable | null = null;
  // A report from before the newest one that was answered says nothing: it may have gone to a hub that led then.
  let sent = 0;
  let answered = 0;
  let heardAt = Number.NEGATIVE_INFINITY;

  function hubLost(reason: string, isAway = true): void {
    if (isAway) options.onUnwelcome();
    else options.onSilent();
    if (options.isNeeded?.() === false) return;
    if (trouble !== reason) log.warn({ reason }, 'no hub accepts results; keeping them');
    trouble = reason;
  }

  // A hub that has more to do than it can do answers late. To take it for away would send it all again that it has not come to.
  function unanswered(error: unknown, sentAt: number): void {
    if (heardAt >= sentAt) return;
    const isAway = !isServing || !isTimeout(error) || clock.elapsed() - heardAt > longestSilenceMs;
    hubLost(`the hub does not answer: ${messageOf(error)}`, isAway);
  }

  function reportIn(ms: number): void {
    if (isStopping) return;
    next?.[Symbol.dispose]();
    const timer = clock.after(ms, () => {
      void report(isServing ? 'serving' : 'joining').finally(() => {
        if (next === timer) reportIn(reportEveryMs);
      });
    });
    next = timer;
  }

  async function report(phase: Report['phase']): Promise<void> {
    const up = options.connection();
    if (up === null) return;
    sent += 1;
    const number = sent;
    const sentAt = clock.elapsed();
    const measured = { clockOffsetMs: clockOffset.ms, roundTripMs };
    const content: Report = { protocol: [...protocolRange], ...options.state(), ...measured, phase };
    try {
      const subject = subjectsOf(name).report;
      const message = await up.request(subject, JSON.stringify(content), { timeout: options.answerMs });
      if (number < answered) return;
      answered = number;
      heardAt = clock.elapsed();
      const welcome = readJson(WelcomeMessage, message.string());
      if (welcome === null) return hubLost('the hub speaks in a way that this node does not know');
      const tookMs = clock.elapsed() - sentAt;
      roundTripMs = tookMs;
      clockOffset.heard({ now: clock.now(), tookMs, theirs: welcome.now });
      if (enter(up, welcome) && phase === 'joining') await report('serving');
    } catch (error) {
      if (up !== options.connection() || number < answered) return;
      unanswered(error, sentAt);
      if (isDenied(error)) refused('the NATS server does not let this key use this name');
    }
  }

  // True if the hub may send commands from now on.
  function enter(up: NatsConnection, { state, reason, protocol }: WelcomeMessage): boolean {
    const agreed = agree(protocolRange, protocol);
    if (state === 'welcome' && typeof agreed !== 'string') {
      if (trouble !== null || !isServing) log.info('registered with the hub');
      trouble = null;
      strangerSince = null;
      if (isStopping || up !== options.connection()) return false;
      isServing = true;
      options.onWelcome(up, agreed.version);
      return true;
    }
    isServing = false;
    options.onClosed();
    hubLost(`the hub does not use this node: ${reason ?? (typeof agreed === 'string' ? agreed : state)}`);
    if (state === 'stranger') refused(reason ?? state);
    return false;
  }

  function refused(reason: string): void {
    options.onRefused(reason, clock.elapsed() - (strangerSince ??= clock.elapsed()));
  }

  return {
    reportIn,
    hubLost,
    heard: () => void (heardAt = clock.elapsed()),
    disconnected() {
      isServing = false;
    },
    get clockOffsetMs() {
      return clockOffset.ms;
    },
    stop() {
      isStopping = true;
      next?.[Symbol.dispose]();
    },
    async sayGoodbye() {
      await report('leaving');
      await options.connection()?.flush();
    },
  };
}

function isDenied(error: unknown): boolean {
  if (error instanceof errors.PermissionViolationError) return true;
  return error instanceof Error && error.cause instanceof errors.PermissionViolationError;
}
