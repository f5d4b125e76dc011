import { isIP } from 'node:net';
import { deadline } from '#kernel/clock.ts';
import type { NodeEnvironment, ProbeContext } from '../check.ts';
import type { Pinned, Refused } from '../gate.ts';
import { failure, type Outcome } from '../outcome.ts';
import type { ReadHandshake } from '../tcp-info.ts';
import { findUnmet } from './expect.ts';
import type { Head } from './head.ts';
import { sendRequest } from './hop.ts';
import type { Detail } from './detail.ts';
import { followRedirect, type HopRequest, type Redirect, urlOf, visitOf } from './redirect.ts';
import { type Finding, report } from './report.ts';
import { firstRequest } from './request.ts';
import type { Spec } from './spec.ts';
import { Stopwatch } from './stopwatch.ts';

/** Runs one check: a request, those it is redirected to, and the expectations on the last answer. */
export async function probe(
  spec: Spec,
  { gate, signal: outer }: ProbeContext,
  environment: NodeEnvironment,
  readHandshake: ReadHandshake,
): Promise<Outcome<Detail>> {
  outer.throwIfAborted();
  using limit = deadline(environment.clock, spec.timeout, outer);
  const { signal } = limit;
  const watch = new Stopwatch(environment.clock);
  const visited = new Set<string>();
  const hops: Detail['hops'] = [];
  let request = firstRequest(spec);
  for (;;) {
    visited.add(visitOf(request));
    const sent = request;
    const follow = ({ status, headers }: Head): Redirect =>
      followRedirect(sent, status, headers.location, { visited, limit: spec.redirects });
    const pinned = await resolve(sent, spec, gate, watch, signal);
    if (!pinned.ok) return report(spec, { ...unsent, watch, hops, failure: pinned.failure });
    const wantsBody = (head: Head) => follow(head).kind === 'final';
    const options = { spec, environment, gate, readHandshake, signal, watch, wantsBody };
    const result = await sendRequest(sent, pinned, options);
    const redirect = result.head === null || result.failure !== null ? null : follow(result.head);
    if (result.head === null || redirect?.kind !== 'follow') {
      const failure = redirect?.kind === 'refused' ? redirect.failure : result.failure;
      const finding = { ...result, failure, watch, hops, address: pinned.address };
      return report(spec, judge(spec, finding, environment.clock.now()));
    }
    hops.push({ url: urlOf(sent.target), status: result.head.status });
    request = redirect.next;
  }
}

// No request was sent.
const unsent = { timedBy: null, certificate: null, head: null, body: null, address: null, unmet: null };

async function resolve(
  { target, sameOrigin }: HopRequest,
  spec: Spec,
  gate: ProbeContext['gate'],
  watch: Stopwatch,
  signal: AbortSignal,
): Promise<Pinned | Refused> {
  watch.begin('resolve', 'the name');
  const pinned = await gate.pin(target.name, { family: spec.family, signal });
  if (isIP(target.name) === 0) watch.end(pinned.seconds);
  else watch.drop();
  if (pinned.ok || sameOrigin) return pinned;
  const { source, code, message } = pinned.failure;
  return { ...pinned, failure: failure(source, code, `redirect to ${target.name}: ${message}`) };
}

function judge(spec: Spec, finding: Omit<Finding, 'unmet'>, now: number): Finding {
  const { head, body, certificate, watch } = finding;
  if (finding.failure !== null || head === null || body === null) return { ...finding, unmet: null };
  const unmet = findUnmet(spec.expect, { head, body, certificate, seconds: watch.seconds, now });
  return { ...finding, unmet: unmet?.part ?? null, failure: unmet?.failure ?? null };
}
