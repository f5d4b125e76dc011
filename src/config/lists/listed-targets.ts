import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { type Clock, deadline } from '#kernel/clock.ts';
import { messageOf } from '#kernel/errors.ts';
import { singleLine } from '#kernel/text.ts';
import { askContainers, type EngineSocket } from './docker-groups.ts';
import { getText } from './get-text.ts';
import { askCluster, type Cluster } from './kubernetes-groups.ts';
import { askServices, type ServiceName } from './srv-groups.ts';
import type { WatchList } from './watch-list.ts';

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
  readonly source: ListAddress | ServiceName | EngineSocket | Cluster;
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
  /** Waits for a change after this content; absent where it has to be asked for. */
  readonly watch?: WatchList;
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
    const asked = await askSource(source, clock, signal);
    return { text: null, trouble: null, ...asked };
  } catch (error) {
    if (!signal.aborted) throw error;
    return { text: null, trouble: messageOf(error) };
  }
}

async function askSource(
  source: Exclude<TargetList['source'], ListAddress>,
  clock: Clock,
  signal: AbortSignal,
): Promise<Partial<ListContent>> {
  switch (source.kind) {
    case 'srv':
      return askServices(source, clock, answerWithinMs, signal);
    case 'docker':
      return askContainers(source, clock, answerWithinMs, signal);
    case 'kubernetes':
      return askCluster(source, clock, answerWithinMs, signal);
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
  const answer = await getText(
    url,
    {
      headers: { 'x-prometheus-refresh-interval-seconds': String(Math.ceil(everyMs / 1_000)), ...headers },
      ca,
      limit,
      limitMs: answerWithinMs,
      mostBytes,
    },
    signal,
  );
  if ('trouble' in answer) return trouble(answer.trouble);
  const { status, text } = answer;
  if (status !== 200) return trouble(`it answered with status ${status ?? 'none'}`);
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
