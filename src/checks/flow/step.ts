import { isIP } from 'node:net';
import type { ProbeEnvironment } from '../check.ts';
import type { GateRefusal, PinnedAddress } from '../gate.ts';
import type { Certificate } from '../certificate.ts';
import { findUnmet } from '../http/expect.ts';
import { follow, type RedirectResult } from '../http/follow.ts';
import { followRedirect, type HopRequest, urlOf, visitOf } from '../http/redirect.ts';
import { Stopwatch } from '../http/stopwatch.ts';
import { type Failure, failure, toSeconds } from '../outcome.ts';
import type { Network } from '../reach.ts';
import { captureFrom } from './capture.ts';
import type { CookieJar } from './cookie-jar.ts';
import type { StepDetail } from './detail.ts';
import { requestOf } from './request.ts';
import type { FlowStep, Spec } from './spec.ts';

/** What the steps of one flow share. */
export interface FlowRun {
  readonly spec: Spec;
  readonly network: Network;
  readonly environment: ProbeEnvironment;
  readonly jar: CookieJar;
  readonly values: Map<string, string>;
  /** The addresses of names: each is resolved once. */
  readonly pins: Map<string, PinnedAddress | GateRefusal>;
  /** When the flow began. */
  readonly start: number;
}

/** What became of a step. Its texts may hold secrets. */
export interface StepResult {
  readonly detail: StepDetail;
  readonly certificate: Certificate | null;
  readonly address: string | null;
  readonly failure: Failure | null;
}

/** Sends a request and those it is redirected to, judges the last answer, and captures what later steps need. */
export async function runStep(step: FlowStep, index: number, run: FlowRun): Promise<StepResult> {
  const { spec, environment, jar, values } = run;
  const { clock } = environment;
  const begin = clock.elapsed();
  const watch = new Stopwatch(clock);
  const first = requestOf(step, spec.host, values);
  const about = (sent: HopRequest | null, redirects: number): StepDetail => ({
    name: step.name ?? String(index + 1),
    method: step.method,
    url: sent === null ? '' : urlOf(sent.target).replace(/\?.*$/s, ''),
    status: null,
    redirects,
    offset: toSeconds(begin - run.start),
    seconds: toSeconds(clock.elapsed() - begin),
    phases: watch.phases,
    failed_expectation: null,
  });
  if (typeof first === 'string')
    return { detail: about(null, 0), certificate: null, address: null, failure: failure('target', 'answer', first) };
  const { result, sent, redirects, certificate } = await followWithCookies(first, step, run, watch);
  const { head, body, address } = result;
  const base = { ...about(sent, redirects), status: head?.status ?? null };
  if (result.failure !== null || head === null || body === null)
    return { detail: base, certificate, address, failure: result.failure };
  const now = clock.now();
  const unmet = findUnmet(step.expect, { head, body, certificate: result.certificate, seconds: watch.seconds, now });
  if (unmet !== null) {
    const detail = { ...base, failed_expectation: unmet.part };
    return { detail, certificate, address, failure: unmet.failure };
  }
  for (const [name, capture] of Object.entries(step.capture)) {
    const found = captureFrom(capture, { head, body, jar, now });
    if ('lack' in found)
      return { detail: base, certificate, address, failure: failure('target', 'answer', `no ${name}: ${found.lack}`) };
    values.set(name, found.value);
  }
  return { detail: base, certificate, address, failure: null };
}

interface LastHop {
  readonly result: RedirectResult;
  readonly sent: HopRequest;
  readonly redirects: number;
  /** That of the first request with TLS. */
  readonly certificate: Certificate | null;
}

// Each request for itself, as an answer on the way may set cookies for the next one.
async function followWithCookies(first: HopRequest, step: FlowStep, run: FlowRun, watch: Stopwatch): Promise<LastHop> {
  const { spec, network, environment, jar } = run;
  const { clock } = environment;
  const { tls, http2, max_body } = spec;
  const settings = { tls, http2, max_body, redirects: 0, proxy: undefined, expect: step.expect };
  const readsBody =
    step.expect.body !== undefined || Object.values(step.capture).some((one) => 'json' in one || 'regex' in one);
  const cookiesFor = ({ target }: HopRequest) => jar.headerFor(target, clock.now());
  // A cookie that came with the redirect makes it another request: servers ask so whether cookies are taken.
  const visitWithCookies = (one: HopRequest) => `${visitOf(one)} ${cookiesFor(one) ?? ''}`;
  const visited = new Set<string>();
  let request = first;
  let certificate: Certificate | null = null;
  for (;;) {
    visited.add(visitWithCookies(request));
    const pinned = await pinOnce(request.target.name, run, watch);
    const cookies = cookiesFor(request);
    const own = request.headers['cookie'];
    const all = [own, cookies].filter((one) => one !== undefined && one !== null).join('; ');
    const sent = all === '' ? request : { ...request, headers: { ...request.headers, cookie: all } };
    const result = await follow(sent, pinned, { spec: settings, environment, network, watch, keep: readsBody });
    certificate ??= result.certificate;
    const { head } = result;
    const redirects = visited.size - 1;
    if (head === null || result.failure !== null) return { result, sent: request, redirects, certificate };
    jar.take(head.valuesOf('set-cookie'), request.target, clock.now());
    const next = followRedirect(request, head.status, head.headers.location, {
      sent: visited.size,
      isVisited: (other) => visited.has(visitWithCookies(other)),
      limit: step.redirects,
    });
    if (next.kind === 'final') return { result, sent: request, redirects, certificate };
    if (next.kind === 'refused')
      return { result: { ...result, failure: next.failure }, sent: request, redirects, certificate };
    request = next.next;
  }
}

async function pinOnce(
  name: string,
  { network, pins }: FlowRun,
  watch: Stopwatch,
): Promise<PinnedAddress | GateRefusal> {
  const known = pins.get(name);
  if (known !== undefined) return known;
  const pinned = await network.pin(name);
  if (isIP(name) === 0) watch.add('resolve', pinned.seconds);
  pins.set(name, pinned);
  return pinned;
}
