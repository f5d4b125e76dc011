import { DeadlineError } from '#kernel/clock.ts';
import { describeDuration } from '#kernel/units.ts';
import type { ProbeEnvironment, ProbeContext, Prober } from '../check.ts';
import { failed, failure, type Failure, type Outcome } from '../outcome.ts';
import { within } from '../reach.ts';
import { loadResponseParser } from '../http/llhttp.ts';
import { loadHandshakeReader } from '../tcp-info.ts';
import type { Detail } from './detail.ts';
import { type RegistrationAnswer, createLookup, type LookupResult, type RegistrationLookup } from './lookup.ts';
import type { DomainRegistration } from './registration.ts';
import type { Spec } from './spec.ts';

/** Starts with nothing known: the list of servers and their answers are kept for all checks of the node. */
export async function start(environment: ProbeEnvironment): Promise<Prober<Spec, Detail>> {
  await loadHandshakeReader();
  await loadResponseParser();
  const lookup = createLookup(environment);
  return {
    capability: { able: true },
    probe: async (spec, context) => probe(spec, context, environment, lookup),
    close: async () => {},
  };
}

async function probe(
  spec: Spec,
  context: ProbeContext,
  environment: ProbeEnvironment,
  lookup: RegistrationLookup,
): Promise<Outcome<Detail>> {
  const looked = await within<LookupResult>({ limitMs: spec.timeout }, context, environment, async (network) => {
    try {
      return await lookup.lookUp(spec, network);
    } catch (error) {
      if (!(error instanceof DeadlineError)) throw error;
      const message = `no answer of a registry within ${describeDuration(error.ms)}`;
      return { ok: false, failure: failure('third_party', 'timeout', message) };
    }
  });
  return looked.ok ? conclude(spec, looked, environment.clock.now()) : failed(looked.failure);
}

function conclude(spec: Spec, { asking, ...answer }: RegistrationAnswer, now: number): Outcome<Detail> {
  const { registration } = answer;
  const known = {
    seconds: asking?.seconds ?? null,
    address: asking?.address ?? null,
    phases: asking?.phases ?? {},
  };
  if (registration === null) {
    const message = `${spec.host} is not registered: ${answer.server} does not know it`;
    return failed(failure('target', 'name_not_found', message), known);
  }
  const { expiresAt } = registration;
  const found = {
    ...known,
    facts: expiresAt === null ? {} : { domain_expires_at: expiresAt / 1_000 },
    detail: detailOf(registration, answer),
  };
  const reason = faultOf(spec, registration, answer.server, now);
  return reason === null ? { status: 'up', ...found } : failed(reason, found);
}

function detailOf(
  { expiresAt, registrar, status }: DomainRegistration,
  { server, askedAt, problem }: Pick<RegistrationAnswer, 'server' | 'askedAt' | 'problem'>,
): Detail {
  return {
    expires_at: expiresAt === null ? null : new Date(expiresAt).toISOString(),
    registrar,
    status: [...status],
    server: server.slice(0, 200),
    asked_at: new Date(askedAt).toISOString(),
    problem: problem?.message ?? null,
  };
}

// What a registry says of a domain whose time is over, though its date may have been moved on already (RFC 8056).
const lastStatuses: ReadonlySet<string> = new Set(['redemption period', 'pending delete']);

function faultOf(
  { host, expect }: Spec,
  { expiresAt, status }: DomainRegistration,
  server: string,
  now: number,
): Failure | null {
  const last = status.find((one) => lastStatuses.has(one.toLowerCase()));
  if (last !== undefined) return failure('target', 'domain_expired', `${host} has expired: its status is "${last}"`);
  if (expiresAt === null) {
    if (expect.valid_for === undefined) return null;
    return failure('third_party', 'answer', `${server} does not state when ${host} expires`);
  }
  const date = new Date(expiresAt).toISOString();
  if (expiresAt <= now) return failure('target', 'domain_expired', `${host} expired on ${date}`);
  if (expect.valid_for === undefined || expiresAt - now >= expect.valid_for) return null;
  const message = `${host} expires on ${date}, in less than ${describeDuration(expect.valid_for)}`;
  return failure('target', 'domain_expires_soon', message);
}
