import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { type Clock, deadline } from '#kernel/clock.ts';
import { messageOf } from '#kernel/errors.ts';
import { receive } from '#kernel/receive.ts';
import { singleLine } from '#kernel/text.ts';
import { userAgent } from '#kernel/version.ts';
import { askServices, type ServiceName } from './srv-groups.ts';

/** An address over HTTP that lists targets, and how it is asked. */
export interface ListAddress {
  readonly kind: 'http';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** PEM certificates to trust instead of the usual ones, or null. */
  readonly ca: string | null;
}

/** A list of targets elsewhere, and how it is asked. */
export interface TargetList {
  /** The name under `targets_from`. */
  readonly name: string;
  readonly source: ListAddress | ServiceName;
  /** Where it comes from, without what may be a secret. */
  readonly shown: string;
  readonly everyMs: number;
  /** Where what it said last is kept. */
  readonly keptIn: string;
}

/** What is known of a list: its text, or null if nothing is; and why it is not what it says now, or null. */
export interface ListContent {
  readonly text: string | null;
  readonly trouble: string | null;
}

/** Finds out what a list says. Never rejects. */
export type ReadList = (list: TargetList) => Promise<ListContent>;

const answerWithinMs = 10_000;
const mostBytes = 8 * 1_048_576;

const TargetGroups = z.array(
  z.object({ targets: z.array(z.string()), labels: z.record(z.string(), z.string()).optional() }),
);

/** Asks each time, and falls back on what the daemon has kept. */
export function askEachTime(clock: Clock): ReadList {
  return async (list) => {
    const asked = await askList(list, clock, new AbortController().signal);
    return asked.trouble === null ? asked : { ...asked, text: await keptText(list) };
  };
}

/** Takes what the daemon has kept, and asks if there is nothing. */
export function askOnce(clock: Clock): ReadList {
  const ask = askEachTime(clock);
  return async (list) => {
    const text = await keptText(list);
    return text === null ? ask(list) : { text, trouble: null };
  };
}

/** What a list said when it was kept, or null. */
export async function keptText({ keptIn }: TargetList): Promise<string | null> {
  try {
    const text = await readFile(keptIn, 'utf8');
    return faultOf(text) === null ? text : null;
  } catch {
    // Nothing was kept, or not for this user: then nothing is known.
    return null;
  }
}

/** Asks for what a list says now, once. */
export async function askList(list: TargetList, clock: Clock, signal: AbortSignal): Promise<ListContent> {
  const { source } = list;
  if (source.kind === 'http') return askAddress(source, list, clock, signal);
  try {
    const asked = await askServices(source, clock, answerWithinMs, signal);
    return { text: null, trouble: null, ...asked };
  } catch (error) {
    if (!signal.aborted) throw error;
    return { text: null, trouble: messageOf(error) };
  }
}

/** Asks as Prometheus does: a GET whose answer is 200 and a JSON list of groups. Redirects are not followed. */
async function askAddress(
  { url, headers, ca }: ListAddress,
  list: TargetList,
  clock: Clock,
  signal: AbortSignal,
): Promise<ListContent> {
  using limit = deadline(clock, answerWithinMs, signal);
  const { everyMs } = list;
  const trouble = (why: string): ListContent => ({ text: null, trouble: singleLine(why.replaceAll(url, list.shown)) });
  const { default: got, RequestError } = await import('got');
  const stream = got.stream(url, {
    headers: {
      accept: 'application/json',
      'user-agent': userAgent,
      'x-prometheus-refresh-interval-seconds': String(Math.ceil(everyMs / 1_000)),
      ...headers,
    },
    ...(ca === null ? {} : { https: { certificateAuthority: ca } }),
    signal: limit.signal,
    retry: { limit: 0 },
    followRedirect: false,
    throwHttpErrors: false,
  });
  const { bytes, isMore, broken } = await receive(stream, mostBytes);
  if (broken !== null) {
    if (limit.expired) return trouble(`no answer within ${answerWithinMs / 1_000} s`);
    if (signal.aborted || broken.by instanceof RequestError) return trouble(messageOf(broken.by));
    throw broken.by;
  }
  if (isMore) return trouble(`its answer has more than ${mostBytes} bytes`);
  const { statusCode } = stream.response ?? {};
  if (statusCode !== 200) return trouble(`it answered with status ${statusCode ?? 'none'}`);
  const text = bytes.toString('utf8');
  const fault = faultOf(text);
  return fault === null ? { text, trouble: null } : trouble(fault);
}

function faultOf(text: string): string | null {
  try {
    const { error } = TargetGroups.safeParse(JSON.parse(text));
    const [issue] = error?.issues ?? [];
    return issue === undefined
      ? null
      : `its answer is no list of groups, such as [{ "targets": ["a:1"] }]: ${issue.path.join('.')} ${issue.message}`;
  } catch (error) {
    return `its answer is no JSON: ${messageOf(error)}`;
  }
}
