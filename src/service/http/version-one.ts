import type { FastifyInstance } from 'fastify';
import { checkOf, concealAddresses, startableTypeNames, type NodeInfo } from '#checks/index.ts';
import type { ApiCheck, ApiLimits, ApiNodeHealth } from '#protocol/version-one.ts';
import type { Rate } from '#kernel/buckets.ts';
import { nodeIdOf } from '#protocol/wire.ts';
import type { CheckRun } from '../check-run.ts';
import type { LimitName } from '../limits.ts';
import type { NodeResult, NodeStatus } from '../ports.ts';
import { baseUrlOf, wantsPage } from './negotiate.ts';
import { parametersOf } from './parameters.ts';
import { sendVersion, withRun } from './results.ts';
import type { ServiceOptions } from './settings.ts';
import { versionOneInput } from './start-input.ts';
import { type AccessGrant, admit, rateHeaders, startCheck } from './start.ts';

const json = 'application/json; charset=utf-8';

/** `/api/v1/`: the same checks with whole outcomes and the health of nodes, and `/openapi.json`. */
export function addVersionOne(app: FastifyInstance, options: ServiceOptions): void {
  const { checks, nodeDomain, publicUrl } = options;

  app.post('/api/v1/checks', async (request, reply) => {
    const parameters = await parametersOf(request);
    // The public service has no such path, and no client expects its ways here.
    const own = { ...options, compatible: false };
    const { run, headers } = await startCheck(request, versionOneInput(parameters, startableTypeNames), own);
    const base = baseUrlOf(request, publicUrl);
    reply.header('vary', 'accept');
    if (wantsPage(request)) return reply.headers(headers).redirect(`../../check-report/${run.id}`, 303);
    reply.code(201).headers({ ...headers, location: `${base}/api/v1/checks/${run.id}` });
    return reply.type(json).send(JSON.stringify(checkFor(run, base, nodeDomain)));
  });

  app.get<{ Params: { id: string } }>('/api/v1/checks/:id', (request, reply) =>
    withRun(request.params.id, request, reply, options, (run) => {
      const base = baseUrlOf(request, publicUrl);
      return sendVersion(request, reply, run, () => JSON.stringify(checkFor(run, base, nodeDomain)));
    }),
  );

  app.get('/api/v1/nodes', async (_, reply) => {
    const nodes = checks.nodes().map((node) => healthFor(node, nodeDomain));
    return reply.type(json).send(JSON.stringify({ nodes }));
  });

  app.get('/api/v1/limits', async (request, reply) => {
    const access = admit(request, options);
    const allowance = options.limits.leftOf(access.client, 'checks');
    reply.headers(rateHeaders({ ...allowance, resource: 'checks' }));
    return reply.type(json).send(JSON.stringify(limitsFor(access, options)));
  });

  let document: string | null = null;
  app.get('/openapi.json', async (_, reply) => {
    // Nothing else needs the shapes of the answers.
    const { openApiDocument } = await import('./openapi.ts');
    return reply.type(json).send((document ??= JSON.stringify(openApiDocument(options))));
  });
}

function limitsFor({ client, isStranger }: AccessGrant, { limits, maxNodes }: ServiceOptions): ApiLimits {
  const { rates } = limits;
  const rateOf = ({ count, perMs }: Rate) => ({ limit: count, window_seconds: perMs / 1_000 });
  const allowanceOf = (resource: LimitName, rate: Rate) => {
    const { remaining, resetSeconds } = limits.leftOf(client, resource);
    return { ...rateOf(rate), remaining, reset_seconds: resetSeconds };
  };
  return {
    max_nodes: maxNodes,
    checks: allowanceOf('checks', rates.per_client),
    domain: isStranger ? allowanceOf('domain', rates.domain_per_client) : null,
    per_target: rateOf(rates.per_target),
    per_node: rateOf(rates.per_node),
    overall: rateOf(rates.overall),
  };
}

function checkFor(run: CheckRun, base: string, nodeDomain: string): ApiCheck {
  const { id, spec, createdAt, results, done } = run;
  return {
    id,
    type: spec.type,
    host: spec.host,
    port: checkOf(spec.type).port(spec),
    created_at: new Date(createdAt).toISOString(),
    state: done ? 'finished' : 'running',
    report_url: `${base}/check-report/${id}`,
    results: results.map((result) => ({ node: nodeFor(result.node, nodeDomain), ...resultFor(run, result) })),
  };
}

function resultFor({ spec }: CheckRun, { node, outcome, interim }: NodeResult) {
  const { rawOutput } = checkOf(spec.type);
  const known = outcome ?? interim;
  return {
    outcome,
    ...(interim !== undefined && { interim: interim.detail }),
    ...(known !== undefined && rawOutput !== null && { raw_output: rawOutput(known, { spec, node: node.name }) }),
  };
}

function nodeFor({ name, countryCode, country, city, asn, ip }: NodeInfo, nodeDomain: string) {
  return { id: nodeIdOf(name, nodeDomain), name, country_code: countryCode, country, city, asn, ip };
}

const isOffered = (type: string) => startableTypeNames.some((name) => name === type);

function healthFor(
  { info, online, reason, running, queued, lagSeconds, capabilities }: NodeStatus,
  domain: string,
): ApiNodeHealth {
  const known = Object.entries(capabilities).flatMap(([type, capability]) =>
    capability === undefined || !isOffered(type) ? [] : [[type, capability]],
  );
  return {
    ...nodeFor(info, domain),
    online,
    // It may reveal which hosts of the own network do not answer.
    reason: reason === null ? null : concealAddresses(reason),
    running,
    queued,
    lag_seconds: lagSeconds,
    capabilities: Object.fromEntries(known),
  };
}
