import { isIP } from 'node:net';
import type { Clock } from '#kernel/clock.ts';
import { closeSocket, type Connection, type ConnectionFailure } from './connection.ts';
import type { PinnedAddress } from './gate.ts';
import { failure, toSeconds } from './outcome.ts';

/** How long an attempt has before the next one begins beside it (RFC 8305, section 5: Connection Attempt Delay). */
const attemptDelayMs = 250;
const mostAttempts = 6;

type ConnectResult = Connection | ConnectionFailure;

/**
 * Connects as browsers do (RFC 8305, sections 4 and 5): to the addresses of the name in turn, IPv6 first and then alternating; the next
 * attempt begins when the one before has failed, or after 250 ms. The first connection is used, the others are closed. `open` must
 * give way to its signal. The time of the handshake includes the attempts before it.
 */
export async function openFastest(
  pinned: PinnedAddress,
  clock: Clock,
  signal: AbortSignal,
  open: (pinned: PinnedAddress, signal: AbortSignal) => Promise<ConnectResult>,
): Promise<ConnectResult> {
  const [first, ...others] = alternating(pinned);
  if (first === undefined || others.length === 0) return open(first ?? pinned, signal);
  const start = clock.elapsed();
  const late = new AbortController();
  const each = AbortSignal.any([signal, late.signal]);
  const attempts: Promise<ConnectResult>[] = [];
  const failures: { readonly family: number; readonly failed: ConnectionFailure }[] = [];
  const { promise: settled, resolve, reject } = Promise.withResolvers<ConnectResult>();
  const waiting = [first, ...others];
  let timer: Disposable | undefined;
  let running = 0;
  let isOver = false;
  let kept: Connection | null = null;

  const begin = () => {
    timer?.[Symbol.dispose]();
    const next = waiting.shift();
    if (next === undefined || isOver) return;
    const beganMs = clock.elapsed() - start;
    running += 1;
    if (waiting.length > 0) timer = clock.after(attemptDelayMs, begin);
    const attempt = open(next, each);
    attempts.push(attempt);
    attempt.then((result) => {
      running -= 1;
      if (result.ok && !isOver) {
        isOver = true;
        kept = result;
        return resolve(delayed(result, beganMs));
      }
      if (result.ok) return undefined;
      failures.push({ family: next.family, failed: result });
      // An abort from outside ends all of them, and begins none.
      if (waiting.length > 0 && !signal.aborted) return begin();
      return running === 0 && !isOver ? resolve(failureOf(failures)) : undefined;
    }, reject);
  };

  try {
    begin();
    return await settled;
  } finally {
    isOver = true;
    timer?.[Symbol.dispose]();
    late.abort();
    await closeOthers(attempts, kept);
  }
}

// Sorted into alternating families, IPv6 first (RFC 8305, section 4).
function alternating(pinned: PinnedAddress): readonly PinnedAddress[] {
  const of = (family: 4 | 6) =>
    pinned.addresses.filter((address) => isIP(address) === family).map((address) => ({ ...pinned, address, family }));
  const six = of(6);
  const four = of(4);
  const longest = Math.max(six.length, four.length);
  return Array.from({ length: longest }, (_, index) => [six[index], four[index]])
    .flat()
    .filter((one) => one !== undefined)
    .slice(0, mostAttempts);
}

function delayed(connection: Connection, beganMs: number): Connection {
  const delay = toSeconds(beganMs);
  return { ...connection, seconds: connection.seconds + delay, clockSeconds: connection.clockSeconds + delay };
}

function failureOf(
  failures: readonly { readonly family: number; readonly failed: ConnectionFailure }[],
): ConnectionFailure {
  const [first, ...others] = failures;
  if (first === undefined) throw new TypeError('no attempt has failed');
  const { source, code, message } = first.failed.failure;
  const reset = first.failed.reset;
  const other = others.find(({ family }) => family !== first.family);
  if (other === undefined) return first.failed;
  const combined = `IPv${first.family}: ${message}; IPv${other.family}: ${other.failed.failure.message}`;
  return { ok: false, failure: failure(source, code, combined), reset };
}

async function closeOthers(attempts: readonly Promise<ConnectResult>[], kept: Connection | null): Promise<void> {
  const results = await Promise.allSettled(attempts);
  const sockets = results.flatMap((result) =>
    result.status === 'fulfilled' && result.value.ok ? [result.value.socket] : [],
  );
  await Promise.all(sockets.filter((socket) => socket !== kept?.socket).map(closeSocket));
}
