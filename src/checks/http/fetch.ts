import { isIP } from 'node:net';
import { userAgent } from '#kernel/version.ts';
import type { ProbeEnvironment } from '../check.ts';
import type { PinnedAddress } from '../gate.ts';
import type { Certificate } from '../certificate.ts';
import { type Failure, failure } from '../outcome.ts';
import type { Network } from '../reach.ts';
import { follow } from './follow.ts';
import type { Head } from './head.ts';
import { targetOf } from './redirect.ts';
import type { HttpProxy } from './proxy.ts';
import type { Spec } from './spec.ts';
import { Stopwatch } from './stopwatch.ts';
import { attributeToProxy, placeOf } from './tunnel.ts';

/** A document that a check needs besides what it measures. */
export interface FetchRequest {
  readonly url: string;
  /** Posted if it is there. */
  readonly body?: string | Buffer;
  /** Names are lowercase. */
  readonly headers: Readonly<Record<string, string>>;
  readonly largestBytes: number;
  readonly redirects: number;
  readonly tls?: Pick<Spec['tls'], 'ca' | 'server_name'> & Partial<Pick<Spec['tls'], 'verify'>>;
  /** The address of its server, if that is known. */
  readonly pinned?: PinnedAddress;
  readonly proxy?: HttpProxy | undefined;
}

interface FetchMeasurements {
  /** That of the last request, or null if none was pinned. */
  readonly address: string | null;
  readonly phases: Stopwatch['phases'];
  /** All phases but the resolution of names. */
  readonly seconds: number;
  readonly certificate: Certificate | null;
  readonly tlsProtocol: string | null;
}

/** An answer whatever its status, or why there is none whole. */
export type FetchResult = FetchMeasurements &
  (
    | { readonly ok: true; readonly head: Head; readonly content: Buffer }
    | { readonly ok: false; readonly failure: Failure }
  );

/** Fetches a document in the way that http checks send their request: by the gate, over a connection of its own. */
export async function fetchDocument(
  { url, body, headers, largestBytes, redirects, tls, pinned: known, proxy }: FetchRequest,
  network: Network,
  environment: ProbeEnvironment,
): Promise<FetchResult> {
  const target = targetOf(url);
  if (typeof target === 'string') throw new TypeError(`the address "${url}" ${target}`);
  const watch = new Stopwatch(environment.clock);
  const request = {
    target,
    method: body === undefined ? ('GET' as const) : ('POST' as const),
    headers: { 'user-agent': userAgent, 'accept-encoding': 'identity', ...headers },
    body: body ?? null,
    sameOrigin: true,
  };
  const spec = {
    tls: { verify: true, ...tls },
    http2: 'auto' as const,
    max_body: largestBytes,
    redirects,
    proxy,
    expect: {},
  };
  const name = proxy === undefined ? target.name : placeOf(proxy).name;
  const pinned = known ?? attributeToProxy(proxy, await network.pin(name));
  if (known === undefined && isIP(name) === 0) watch.add('resolve', pinned.seconds);
  const options = { spec, environment, network, watch, keep: true };
  const { head, body: read, ...found } = await follow(request, pinned, options);
  const measured = {
    address: found.address,
    phases: watch.phases,
    seconds: watch.seconds,
    certificate: found.certificate,
    tlsProtocol: found.tlsProtocol,
  };
  if (found.failure !== null) return { ok: false, failure: found.failure, ...measured };
  const content = read?.content ?? null;
  if (head === null || read === null || content === null) throw new TypeError('an answer without head or body');
  if (read.complete) return { ok: true, head, content, ...measured };
  const message = `the answer is larger than ${largestBytes} bytes`;
  return { ok: false, failure: failure('target', 'too_large', message), ...measured };
}
