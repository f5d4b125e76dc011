import { isIP } from 'node:net';
import type { NodeEnvironment, ProbeContext } from '../check.ts';
import type { Pinned, Refused } from '../gate.ts';
import { failure, type Outcome } from '../outcome.ts';
import { reach, type Site } from '../reach.ts';
import type { Detail } from './detail.ts';
import { findUnmet } from './expect.ts';
import type { Head } from './head.ts';
import { sendRequest } from './hop.ts';
import { followRedirect, type HopRequest, type Redirect, urlOf, visitOf } from './redirect.ts';
import { type Finding, report } from './report.ts';
import { firstRequest } from './request.ts';
import type { Spec } from './spec.ts';
import { Stopwatch } from './stopwatch.ts';

/** Runs one check: a request, those it is redirected to, and the expectations on the last answer. */
export async function probe(spec: Spec, context: ProbeContext, environment: NodeEnvironment): Promise<Outcome<Detail>> {
  const request = firstRequest(spec);
  const { name } = request.target;
  const watch = new Stopwatch(environment.clock);
  return reach<Detail>({ name, family: spec.family, limitMs: spec.timeout, covers: 'check' }, context, environment, {
    async probe(site) {
      if (site.phases.resolve !== undefined) watch.add('resolve', site.phases.resolve);
      return report(spec, await follow(spec, request, site, environment, watch));
    },
    unreached({ failure }, { resolve }) {
      if (resolve !== undefined) watch.add('resolve', resolve);
      return report(spec, { ...unsent, watch, hops: [], failure });
    },
  });
}

// No request was sent.
const unsent = {
  timedBy: null,
  certificate: null,
  tlsProtocol: null,
  head: null,
  body: null,
  address: null,
  unmet: null,
};

async function follow(
  spec: Spec,
  first: HopRequest,
  site: Site,
  environment: NodeEnvironment,
  watch: Stopwatch,
): Promise<Finding> {
  const visited = new Set<string>();
  const hops: Detail['hops'] = [];
  let request = first;
  let pinned: Pinned | Refused = site.pinned;
  for (;;) {
    visited.add(visitOf(request));
    const sent = request;
    const next = ({ status, headers }: Head): Redirect =>
      followRedirect(sent, status, headers.location, { visited, limit: spec.redirects });
    if (!pinned.ok) return { ...unsent, watch, hops, failure: pinned.failure };
    const wantsBody = (head: Head) => next(head).kind === 'final';
    const result = await sendRequest(sent, pinned, { spec, environment, site, watch, wantsBody });
    const redirect = result.head === null || result.failure !== null ? null : next(result.head);
    if (result.head === null || redirect?.kind !== 'follow') {
      const failure = redirect?.kind === 'refused' ? redirect.failure : result.failure;
      const finding = { ...result, failure, watch, hops, address: pinned.address };
      return assess(spec, finding, environment.clock.now());
    }
    hops.push({ url: urlOf(sent.target), status: result.head.status });
    request = redirect.next;
    pinned = await pinAnother(request, site, watch);
  }
}

async function pinAnother({ target, sameOrigin }: HopRequest, site: Site, watch: Stopwatch): Promise<Pinned | Refused> {
  const pinned = await site.pin(target.name);
  if (isIP(target.name) === 0) watch.add('resolve', pinned.seconds);
  if (pinned.ok || sameOrigin) return pinned;
  const { source, code, message } = pinned.failure;
  return { ...pinned, failure: failure(source, code, `redirect to ${target.name}: ${message}`) };
}

function assess(spec: Spec, finding: Omit<Finding, 'unmet'>, now: number): Finding {
  const { head, body, certificate, watch } = finding;
  if (finding.failure !== null || head === null || body === null) return { ...finding, unmet: null };
  const unmet = findUnmet(spec.expect, { head, body, certificate, seconds: watch.seconds, now });
  return { ...finding, unmet: unmet?.part ?? null, failure: unmet?.failure ?? null };
}
