import type { NodeEnvironment, ProbeContext } from '../check.ts';
import type { Outcome } from '../outcome.ts';
import { reach } from '../reach.ts';
import type { Detail } from './detail.ts';
import { findUnmet } from './expect.ts';
import { follow, unsent } from './follow.ts';
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
      const keep = spec.expect.body !== undefined;
      const followed = await follow(request, site.pinned, { spec, environment, network: site, watch, keep });
      return report(spec, assess(spec, { ...followed, watch }, environment.clock.now()));
    },
    unreached({ failure }, { resolve }) {
      if (resolve !== undefined) watch.add('resolve', resolve);
      return report(spec, { ...unsent, watch, hops: [], address: null, unmet: null, failure });
    },
  });
}

function assess(spec: Spec, finding: Omit<Finding, 'unmet'>, now: number): Finding {
  const { head, body, certificate, watch } = finding;
  if (finding.failure !== null || head === null || body === null) return { ...finding, unmet: null };
  const unmet = findUnmet(spec.expect, { head, body, certificate, seconds: watch.seconds, now });
  return { ...finding, unmet: unmet?.part ?? null, failure: unmet?.failure ?? null };
}
