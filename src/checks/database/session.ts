import { DeadlineError, orAbort } from '#kernel/clock.ts';
import { messageOf } from '#kernel/errors.ts';
import { singleLine } from '#kernel/text.ts';
import { formatDuration, formatSeconds } from '#kernel/units.ts';
import { streamFailure } from '../network-errors.ts';
import { type Failure, failure, type Phase, toSeconds } from '../outcome.ts';
import { compilePattern } from '../pattern.ts';
import type { Talk } from '../stream/talk.ts';
import type { ServerDetail } from './detail.ts';
import type { OpenStream } from './open-stream.ts';
import type { RowsExpectation, ValueExpectation } from './options.ts';

/** The connection ended before the server had answered. */
export class EarlyEnd extends Error {
  override readonly name = 'EarlyEnd';
}

type ServerTalk = Talk<ServerDetail>;

export interface SessionSteps<Session> {
  readonly stream: OpenStream;
  /** Signs in. */
  readonly login: () => Promise<Session>;
  /** Asks for what is wanted, and fills the detail with it. */
  readonly query: (session: Session) => Promise<void>;
  /** Whether an error of the library is an answer of the server, and not of the connection. */
  readonly isAnswer: (error: unknown) => boolean;
  /** What an error of the library means if it is of its own kind; null if it is not. */
  readonly explain?: (error: unknown) => Failure | null;
}

/** Signs in and asks, each as a phase of its own. Gives what was wrong, or null. */
export async function inSession<Session>(
  found: ServerTalk,
  { stream, login, query, isAnswer, explain = () => null }: SessionSteps<Session>,
): Promise<Failure | null> {
  const { clock, arrivedAt, signal, findings } = found;
  let phase: Phase = 'login';
  let start = clock.elapsed();
  let seconds = 0;
  const end = () => {
    const taken = toSeconds(Math.max(0, arrivedAt() - start));
    findings.phases[phase] = taken;
    seconds += taken;
    start = clock.elapsed();
  };
  try {
    const session = await orAbort(login(), signal);
    end();
    phase = 'query';
    await orAbort(query(session), signal);
    end();
    found.seconds = Math.round(seconds * 1e6) / 1e6;
    return null;
  } catch (error) {
    if (error instanceof DeadlineError) {
      const waited = phase === 'login' ? 'the server did not finish the login' : 'no answer to the query';
      return failure('target', 'timeout', `${waited} within ${formatDuration(error.ms)}`);
    }
    signal.throwIfAborted();
    if (!isAnswer(error) && stream.isOver) return explain(error) ?? faultOf(new EarlyEnd(), phase, isAnswer);
    return explain(error) ?? faultOf(error, phase, isAnswer);
  }
}

function faultOf(error: unknown, phase: Phase, isAnswer: (error: unknown) => boolean): Failure {
  const isLogin = phase === 'login';
  if (isAnswer(error)) {
    const words = singleLine(messageOf(error));
    return failure(
      'target',
      'status',
      isLogin ? `the server refused the login: ${words}` : `the server refused: ${words}`,
    );
  }
  if (error instanceof RangeError) return failure('target', 'too_large', messageOf(error));
  const during = isLogin ? 'during the login' : 'while waiting for the answer';
  if (error instanceof EarlyEnd) return failure('target', 'closed', `connection closed ${during}`);
  return streamFailure(error, during);
}

/** A value as one line of text; null if there is none. */
export function textOf(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string') return singleLine(value);
  if (Buffer.isBuffer(value)) return singleLine(value.toString('utf8'));
  return singleLine(JSON.stringify(value) ?? '');
}

/** What of the value, of the number of rows and of the time is not as expected; null if all is. */
export function unmetValue(
  expected: ValueExpectation & Pick<RowsExpectation, 'rows'>,
  { value, rows }: { readonly value: string | null; readonly rows: number | null },
  seconds: number | null,
): Failure | null {
  const { equals, not, regex, min, max, latency } = expected;
  const shown = value === null ? 'nothing' : JSON.stringify(singleLine(value, 70));
  const wrong = (wanted: string) => failure('target', 'answer', `the value is ${shown}, expected ${wanted}`);
  if (equals !== undefined && !isSame(value, equals)) return wrong(JSON.stringify(equals));
  if (not !== undefined && isSame(value, not)) return wrong(`something else`);
  if (regex !== undefined && !compilePattern(regex).test(value ?? '')) return wrong(`/${regex}/`);
  if (min !== undefined && !(numberOf(value) >= min)) return wrong(`at least ${min}`);
  if (max !== undefined && !(numberOf(value) <= max)) return wrong(`at most ${max}`);
  const { min: fewest, max: most } = expected.rows ?? {};
  if (rows !== null && fewest !== undefined && rows < fewest)
    return failure('target', 'answer', `${rows} rows, expected at least ${fewest}`);
  if (rows !== null && most !== undefined && rows > most)
    return failure('target', 'answer', `${rows} rows, expected at most ${most}`);
  if (latency !== undefined && seconds !== null && seconds * 1e3 > latency)
    return failure('target', 'slow', `took ${formatSeconds(seconds)}, expected at most ${formatDuration(latency)}`);
  return null;
}

// Servers give texts: 15 equals "15", and true what PostgreSQL and MySQL write for it.
function isSame(value: string | null, expected: string | number | boolean | null): boolean {
  if (value === null || expected === null) return value === expected;
  if (typeof expected === 'number') return numberOf(value) === expected;
  if (typeof expected === 'boolean') return (expected ? ['t', 'true', '1'] : ['f', 'false', '0']).includes(value);
  return value === expected;
}

function numberOf(value: string | null): number {
  return value === null || value.trim() === '' ? Number.NaN : Number(value);
}
