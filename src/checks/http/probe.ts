import { deadline } from '#kernel/clock.ts';
import { singleLine } from '#kernel/text.ts';
import type { NodeEnvironment, ProbeContext } from '../check.ts';
import type { Pinned, Refused } from '../gate.ts';
import { failed, failure, type Fact, type Failure, type Outcome } from '../outcome.ts';
import type { ReadHandshake } from '../tcp-info.ts';
import { expiresAt } from '../tls.ts';
import { type Detail, keptHeaders, nothingFound } from './detail.ts';
import { findUnmet } from './expect.ts';
import type { Head } from './head.ts';
import { type HopResult, lateFailure, sendRequest } from './hop.ts';
import { followRedirect, type HopRequest, type Redirect, urlOf, visitOf } from './redirect.ts';
import { firstRequest } from './request.ts';
import { hideSecrets } from './secrets.ts';
import type { Spec } from './spec.ts';
import { Stopwatch } from './stopwatch.ts';

/** Runs one check: a request, those it is redirected to, and the expectations on the last answer. */
export async function probe(
  spec: Spec,
  { gate, signal }: ProbeContext,
  environment: NodeEnvironment,
  readHandshake: ReadHandshake,
): Promise<Outcome<Detail>> {
  signal.throwIfAborted();
  using limit = deadline(environment.clock, spec.timeout, signal);
  const watch = new Stopwatch(environment.clock);
  const trail: Trail = { visited: new Set(), hops: [], address: null };
  let request = firstRequest(spec);
  for (;;) {
    trail.visited.add(visitOf(request));
    const pinned = await resolve(request, spec, gate, watch, limit.signal);
    if (!pinned.ok) return report(spec, watch, trail, null, pinned.failure, environment);
    trail.address = pinned.address;
    let redirect: Redirect = { kind: 'final' };
    const wantsBody = ({ status, headers }: Head) => {
      redirect = followRedirect(request, status, headers.location, { visited: trail.visited, limit: spec.redirects });
      return redirect.kind === 'final';
    };
    const options = { spec, environment, gate, readHandshake, signal: limit.signal, watch, wantsBody };
    const result = await sendRequest(request, pinned, options);
    const step = nextStep(result, redirect);
    if (step.next === null) return report(spec, watch, trail, result, step.failure, environment);
    trail.hops.push({ url: urlOf(request.target), status: step.status });
    request = step.next;
  }
}
