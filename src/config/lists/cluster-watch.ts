import type { Readable } from 'node:stream';
import { z } from 'zod';
import { type Clock, deadline } from '#kernel/clock.ts';
import { messageOf } from '#kernel/errors.ts';
import { parseJson } from '#kernel/json.ts';
import { singleLine } from '#kernel/text.ts';
import { userAgent } from '#kernel/version.ts';
import { hostLabel } from './label-groups.ts';
import type { WatchEnd } from './watch-list.ts';

/** Up to where a list of a cluster has been read. */
export interface ListPosition {
  /** Of the list, without a query. */
  readonly url: string;
  /** Its `resourceVersion`. */
  readonly version: string;
  /** The objects that name targets, each as `idOf` gives it. */
  readonly annotated: ReadonlySet<string>;
}

interface WatchAccess {
  readonly headers: Readonly<Record<string, string>>;
  readonly ca: string | null;
  readonly clock: Clock;
}

interface ObjectMetadata {
  readonly name: string;
  readonly namespace: string;
  readonly annotations?: Readonly<Record<string, string>> | null | undefined;
}

// The server ends a watch after this time; what ends later than that has lost its connection.
const watchSeconds = 300;
const graceMs = 30_000;
const mostLineBytes = 1_048_576;
// Without specs, where the server can leave them out (Kubernetes API concepts, "Metadata-only fetches").
const accept = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json';

const WatchEvent = z.object({
  type: z.string(),
  object: z.looseObject({
    message: z.string().optional(),
    metadata: z
      .looseObject({
        name: z.string().default(''),
        namespace: z.string().default(''),
        annotations: z.record(z.string(), z.string()).nullish(),
      })
      .prefault({}),
  }),
});

export const idOf = ({ namespace, name }: ObjectMetadata) => `${namespace}/${name}`;
export const isAnnotated = ({ annotations }: ObjectMetadata) => annotations?.[hostLabel] !== undefined;

/**
 * Waits until an object that names targets, or did when its list was read, is added, changed or deleted; what happens to others does not
 * count (Kubernetes API concepts, "Efficient detection of changes"). Rejects with the signal's reason.
 */
export async function watchCluster(
  positions: readonly ListPosition[],
  access: WatchAccess,
  signal: AbortSignal,
): Promise<WatchEnd> {
  const ending = new AbortController();
  const together = AbortSignal.any([signal, ending.signal]);
  try {
    return await Promise.race(positions.map(async (position) => watchOne(position, access, together)));
  } finally {
    ending.abort(new Error('another list has changed'));
  }
}

async function watchOne(
  { url, version, annotated }: ListPosition,
  { headers, ca, clock }: WatchAccess,
  signal: AbortSignal,
): Promise<WatchEnd> {
  const { default: got } = await import('got');
  using limit = deadline(clock, watchSeconds * 1_000 + graceMs, signal);
  const query = new URLSearchParams({
    watch: '1',
    resourceVersion: version,
    timeoutSeconds: String(watchSeconds),
  });
  const stream = got.stream(`${url}?${query.toString()}`, {
    headers: { 'user-agent': userAgent, ...headers, accept },
    ...(ca === null ? {} : { https: { certificateAuthority: ca } }),
    signal: limit.signal,
    retry: { limit: 0 },
    followRedirect: false,
    throwHttpErrors: false,
  });
  try {
    for await (const line of linesOf(stream)) {
      const status = stream.response?.statusCode;
      if (status === 410) return 'ended';
      if (status !== 200) return { trouble: refusalOf(status, line) };
      const event = line === null ? null : (WatchEvent.safeParse(parseJson(line)).data ?? null);
      // Of what is too long or unknown to read, a list tells more.
      if (event === null) return 'changed';
      if (event.type === 'ERROR') return 'ended';
      const { metadata } = event.object;
      if (event.type !== 'BOOKMARK' && (isAnnotated(metadata) || annotated.has(idOf(metadata)))) return 'changed';
    }
    const status = stream.response?.statusCode;
    return status === 200 || status === 410 ? 'ended' : { trouble: refusalOf(status, null) };
  } catch (error) {
    signal.throwIfAborted();
    // The next list says what is wrong, if something is.
    return stream.response === undefined ? { trouble: singleLine(messageOf(error), 200) } : 'ended';
  } finally {
    stream.destroy();
  }
}

function refusalOf(status: number | undefined, line: string | null): string {
  const said = z.object({ message: z.string() }).safeParse(parseJson(line ?? '')).data?.message;
  const verb = status === 403 ? ': add the verb watch to its rules' : '';
  return `the API server answered a watch with status ${status ?? 'none'}${said === undefined ? '' : ` (${singleLine(said, 150)})`}${verb}`;
}

/** Lines as they come; null for one that is too long to be kept, after which nothing more is read. */
async function* linesOf(stream: Readable): AsyncGenerator<string | null> {
  let left = '';
  for await (const piece of stream) {
    left += Buffer.from(piece).toString('latin1');
    const lines = left.split('\n');
    left = lines.pop() ?? '';
    for (const line of lines) yield Buffer.from(line, 'latin1').toString('utf8');
    if (left.length > mostLineBytes) {
      yield null;
      return;
    }
  }
  if (left !== '') yield Buffer.from(left, 'latin1').toString('utf8');
}
