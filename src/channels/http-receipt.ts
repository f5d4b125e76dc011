import type { Clock } from '#kernel/clock.ts';
import { DeadlineError } from '#kernel/clock.ts';
import { messageOf, systemCode } from '#kernel/errors.ts';
import { singleLine } from '#kernel/text.ts';
import type { DeliveryReceipt } from '#monitor/notify/channel.ts';
import { type CallResponse, type ChannelCall, call } from './call.ts';

export interface DeliverOptions {
  readonly clock: Pick<Clock, 'now'>;
  readonly signal: AbortSignal;
  /** Texts besides the URL that no reason may show. */
  readonly secrets?: readonly string[];
  /** What an answer means if the other side has its own way to say it; null for what its status means to all. */
  readonly read?: (response: CallResponse) => DeliveryReceipt | null;
}

/** Makes a call that delivers something, and says what became of it. Never rejects. No reason shows the URL or a secret. */
export async function deliver(request: ChannelCall, options: DeliverOptions): Promise<DeliveryReceipt> {
  const { clock, signal, secrets = [], read = () => null } = options;
  const hide = createRedaction([...secrets, ...secretParts(request.url)]);
  try {
    const response = await call(request, signal);
    return redactedReceipt(read(response) ?? receiptOfStatus(response, clock.now()), hide);
  } catch (error) {
    return redactedReceipt(receiptOfFailure(error, signal), hide);
  }
}

// Only a refusal of this very message is final; an operator may repair anything else.
const final = new Set([400, 406, 409, 410, 411, 413, 414, 415, 422, 431, 451]);

/** What a status means to all: taken, not taken for now, or never. */
function receiptOfStatus(response: CallResponse, now: number): DeliveryReceipt {
  const { status, line, text } = response;
  if (status >= 200 && status <= 299) return { kind: 'delivered', response: line };
  const said = text.trim() === '' ? line : `${line}: ${text}`;
  if (final.has(status)) return { kind: 'rejected', reason: said };
  const isRedirect = status >= 300 && status <= 399;
  const reason = isRedirect ? `${line}: redirects are not followed, configure the final address` : said;
  return retry(reason, retryAfterMs(response, now));
}

type Retry = Extract<DeliveryReceipt, { kind: 'retry' }>;

/** That it may be taken later, after the time that the other side asked for. */
export function retry(reason: string, afterMs: number | null = null): Retry {
  return { kind: 'retry', reason, ...(afterMs === null ? {} : { afterMs }) };
}

/** RFC 9110, 10.2.3: seconds, or a date. */
export function retryAfterMs({ headers }: Pick<CallResponse, 'headers'>, now: number): number | null {
  const header = headers['retry-after'];
  if (typeof header !== 'string') return null;
  if (/^\d{1,9}(?:\.\d+)?$/.test(header)) return Math.ceil(Number(header) * 1_000);
  const at = Date.parse(header);
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}

const neverSent = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ERR_INVALID_URL']);

function receiptOfFailure(error: unknown, signal: AbortSignal): DeliveryReceipt {
  const { reason }: { reason: unknown } = signal;
  const said = reason instanceof DeadlineError ? `not done within ${reason.ms / 1_000} s` : messageOf(reason ?? error);
  return { ...retry(said), ...(neverSent.has(systemCode(error) ?? '') ? {} : { isUncertain: true }) };
}

function redactedReceipt(receipt: DeliveryReceipt, hide: (text: string) => string): DeliveryReceipt {
  if (receipt.kind === 'delivered') return { ...receipt, response: singleLine(hide(receipt.response)) };
  return { ...receipt, reason: singleLine(hide(receipt.reason)) };
}

// The parts of an address that may be as good as a password, in case the other side repeats them.
function secretParts(url: string): readonly string[] {
  const { href, pathname, search } = URL.parse(url) ?? { href: url, pathname: '', search: '' };
  const segments = [...pathname.split('/'), ...search.split(/[?&=]/)].filter((one) => one.length >= 16);
  return [url, href, `${pathname}${search}`, ...segments].filter((one) => one.length > 7);
}

function createRedaction(secrets: readonly string[]): (text: string) => string {
  const sorted = secrets.filter((one) => one !== '').toSorted((a, b) => b.length - a.length);
  return (text) => sorted.reduce((hidden, one) => hidden.replaceAll(one, '[secret]'), text);
}
