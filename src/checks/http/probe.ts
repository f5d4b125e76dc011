import type { ProbeEnvironment, ProbeContext, Prober, WholeResponse } from '../check.ts';
import { expiresAt } from '../certificate.ts';
import { measureFamilies, type MeasuredFamily } from '../families.ts';
import { failed, failure, type Outcome } from '../outcome.ts';
import { reach } from '../reach.ts';
import { arrivalTimes, loadHandshakeReader } from '../tcp-info.ts';
import type { Detail } from './detail.ts';
import { findUnmet } from './expect.ts';
import { follow, type RedirectResult, unsent } from './follow.ts';
import type { Head } from './head.ts';
import { loadResponseParser } from './llhttp.ts';
import { type HttpFindings, report } from './report.ts';
import { firstRequest } from './request.ts';
import { hideSecrets } from './secrets.ts';
import type { Spec } from './spec.ts';
import { Stopwatch } from './stopwatch.ts';
import { createTokens, type Tokens } from './token.ts';
import { proxyFailure, placeOf } from './tunnel.ts';

/** What http checks of a node share. */
export async function start(environment: ProbeEnvironment): Promise<Prober<Spec, Detail>> {
  await loadHandshakeReader();
  await loadResponseParser();
  const tokens = createTokens(environment);
  return {
    capability: { able: true },
    timedByKernel: await arrivalTimes(),
    probe: async (spec, context) => probe(spec, context, environment, tokens),
    close: async () => {},
  };
}

async function probe(
  spec: Spec,
  context: ProbeContext,
  environment: ProbeEnvironment,
  tokens: Tokens,
): Promise<Outcome<Detail>> {
  const unread = unreadFile(spec);
  if (unread !== null) return failed(failure('node', 'unsupported', `the file of ${unread} was not read`));
  const { oauth2 } = spec;
  const requestAll = async (token: string | null) =>
    measureFamilies(spec.family, async (family) => requestHop(spec, family, token, context, environment));
  if (oauth2 === undefined) return requestAll(null);
  const token = await tokens.of(oauth2, spec, context);
  if (!token.ok) {
    const { source, code, message } = token.failure;
    return failed(failure(source, code, hideSecrets(spec)(message)));
  }
  const outcome = await requestAll(token.text);
  if (outcome.detail?.status === 401) tokens.refused(oauth2, spec, token);
  return outcome;
}

// Only the reader of the configuration reads files.
function unreadFile({ oauth2, proxy }: Spec): string | null {
  if (oauth2?.client_secret_file !== undefined) return 'oauth2.client_secret_file';
  return proxy?.password_file === undefined ? null : 'proxy.password_file';
}

/** A request, those it is redirected to, and the expectations on the last answer. */
async function requestHop(
  spec: Spec,
  family: MeasuredFamily,
  token: string | null,
  context: ProbeContext,
  environment: ProbeEnvironment,
): Promise<Outcome<Detail>> {
  const request = firstRequest(spec, token);
  const { proxy } = spec;
  const name = proxy === undefined ? request.target.name : placeOf(proxy).name;
  const watch = new Stopwatch(environment.clock);
  return reach<Detail>({ name, family, limitMs: spec.timeout, covers: 'check' }, context, environment, {
    async probe(site) {
      if (site.phases.resolve !== undefined) watch.add('resolve', site.phases.resolve);
      const { onResponse } = context;
      const keep = spec.expect.body !== undefined || onResponse !== undefined;
      const followed = await follow(request, site.pinned, { spec, environment, network: site, watch, keep });
      if (onResponse !== undefined && followed.head !== null)
        onResponse(wholeResponse(followed, followed.head, watch, environment.clock.now()));
      return report(spec, assess(spec, { ...followed, watch }, environment.clock.now()), token);
    },
    unreached(refused, { resolve }) {
      if (resolve !== undefined) watch.add('resolve', resolve);
      const reason = proxy === undefined ? refused.failure : proxyFailure(proxy, refused.failure);
      return report(spec, { ...unsent, watch, hops: [], address: null, unmet: null, failure: reason }, token);
    },
  });
}

function wholeResponse(
  { body, failure, certificate, address }: RedirectResult,
  head: Head,
  watch: Stopwatch,
  receivedAt: number,
): WholeResponse {
  const { transfer: _body, ...untilHead } = watch.phases;
  return {
    status: head.status,
    valuesOf: head.valuesOf,
    body: failure === null ? (body?.content ?? null) : null,
    isComplete: body?.complete ?? true,
    address,
    receivedAt,
    headSeconds: Object.values(untilHead).reduce((sum, seconds) => sum + seconds, 0),
    certificateExpiresAt: certificate === null ? null : expiresAt(certificate) * 1_000,
  };
}

function assess(spec: Spec, finding: Omit<HttpFindings, 'unmet'>, now: number): HttpFindings {
  const { head, body, certificate, watch } = finding;
  if (finding.failure !== null || head === null || body === null) return { ...finding, unmet: null };
  const unmet = findUnmet(spec.expect, { head, body, certificate, seconds: watch.seconds, now });
  return { ...finding, unmet: unmet?.part ?? null, failure: unmet?.failure ?? null };
}
