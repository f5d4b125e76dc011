import { DeadlineError, orAbort } from '#kernel/clock.ts';
import { messageOf } from '#kernel/errors.ts';
import { singleLine } from '#kernel/text.ts';
import type { ProbeContext, ProbeEnvironment, Prober } from '../check.ts';
import { systemServers } from '../dns/probe.ts';
import { createLookup } from '../domain/lookup.ts';
import { loadResponseParser } from '../http/llhttp.ts';
import { createTokens } from '../http/token.ts';
import { failed, failure, type Outcome } from '../outcome.ts';
import { tracePath } from '../path/trace.ts';
import { within } from '../reach.ts';
import { loadHandshakeReader } from '../tcp-info.ts';
import { bounded } from './bounds.ts';
import type { EvidenceDocument } from './detail.ts';
import { type GatherContext, type GatherTools, PartUnavailableError } from './gather/context.ts';
import { gatherNames } from './gather/names.ts';
import { gatherPath } from './gather/path.ts';
import { gatherReceived } from './gather/received.ts';
import { gatherResponse } from './gather/response.ts';
import { gatherTls } from './gather/tls.ts';
import { gatherUplink } from './gather/uplink.ts';
import type { EvidencePlan } from './plan.ts';
import { createRedaction, type Redaction } from './redaction.ts';
import type { Spec } from './spec.ts';
import { gatherMs } from './limits.ts';

// What is left of the time is for putting the document together.
const partsMs = gatherMs - 1_000;

// The 13 servers of the root (https://www.iana.org/domains/root/servers): three are enough to find one that answers.
const rootServers = ['198.41.0.4', '199.9.14.201', '192.33.4.12'];

/** Starts what gathering shares on a node. `changes` are for nodes in worlds of their own. */
export async function start(
  environment: ProbeEnvironment,
  changes: Partial<GatherTools> = {},
): Promise<Prober<Spec, EvidenceDocument>> {
  await loadHandshakeReader();
  await loadResponseParser();
  const tools: GatherTools = {
    environment,
    tracePath,
    lookup: createLookup(environment),
    tokens: createTokens(environment),
    ownServers: systemServers,
    namePortOf: () => 53,
    rootServers,
    ...changes,
  };
  return {
    capability: { able: true },
    // Nothing is judged by its times.
    timedByKernel: 'all',
    async probe(spec, context) {
      const { plan } = spec.of;
      if (typeof plan === 'string') return failed(failure('node', 'unsupported', plan));
      return gather(spec, plan, context, tools);
    },
    close: async () => {},
  };
}

async function gather(
  spec: Spec,
  plan: EvidencePlan,
  context: ProbeContext,
  tools: GatherTools,
): Promise<Outcome<EvidenceDocument>> {
  const redaction = createRedaction(plan.secrets, spec.redact);
  const missing: EvidenceDocument['missing'] = [];
  const { environment } = tools;
  // A part that fails is missing; only an abort from outside ends the whole.
  const part = async <T>(name: string, work: (given: GatherContext) => Promise<T>): Promise<T | null> => {
    try {
      return await within({ limitMs: partsMs }, context, environment, async ({ signal }) => {
        const limited = { ...context, signal };
        return orAbort(work({ spec, plan, context: limited, tools, redaction }), signal);
      });
    } catch (error) {
      context.signal.throwIfAborted();
      missing.push({ part: name, reason: reasonOf(error, redaction) });
      return null;
    }
  };
  const [path, names, tls, response, received, uplink] = await Promise.all([
    part('path', gatherPath),
    part('names', gatherNames),
    part('tls', gatherTls),
    part('response', gatherResponse),
    part('received', gatherReceived),
    part('uplink', gatherUplink),
  ]);
  const document = { path, names, tls, response, received, uplink, missing };
  return {
    status: 'up',
    seconds: null,
    address: path?.address ?? tls?.address ?? null,
    phases: {},
    facts: {},
    detail: bounded(document, redaction),
  };
}

function reasonOf(error: unknown, redaction: Redaction): string {
  if (error instanceof DeadlineError) return 'not gathered within the time';
  const message = singleLine(redaction.text(messageOf(error)));
  return error instanceof PartUnavailableError ? message : singleLine(`failed: ${message}`);
}
