import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { addressRules, checkOf, CheckSpec, addressObjection, parseEndpoint } from '#checks/index.ts';
import type { NodeInfo } from '#checks/index.ts';
import { networkOf } from '#kernel/network.ts';
import { describeIssue, wordIssue } from '#kernel/schema-words.ts';
import { NodeId } from '#protocol/shapes.ts';
import { nodeIdOf } from '#protocol/wire.ts';
import { type AccessDecision, accessOf } from '../access.ts';
import type { CheckRun } from '../check-run.ts';
import type { Allowance, LimitCharge, Limits } from '../limits.ts';
import type { NodeStatus } from '../ports.ts';
import { isAt, selectForApi } from '../select.ts';
import { ApiFailure } from './failure.ts';
import type { ServiceOptions } from './settings.ts';
import type { StartInput } from './start-input.ts';

export interface StartedRun {
  readonly run: CheckRun;
  /** What is left to the caller, as headers. */
  readonly headers: Readonly<Record<string, string>>;
}

const challenge = { headers: { 'www-authenticate': 'Bearer realm="checks"' } };

/** Starts a check for the sender of the request, or throws an `ApiFailure`. */
export async function startCheck(
  request: FastifyRequest,
  input: StartInput,
  options: ServiceOptions,
): Promise<StartedRun> {
  const access = admit(request, options);
  const spec = readSpec(input);
  if (access.isStranger && checkOf(spec.type).signsIn)
    throw new ApiFailure(
      'unauthorized',
      `a check of the type ${spec.type} signs in to a server: it takes a token`,
      challenge,
    );
  const hosts = hostsOf(spec, access);
  const hasNames = hosts.some((host) => isIP(host) === 0);
  const isScarce = access.isStranger && checkOf(spec.type).hasOwnLimit;
  const choose = () => ({ client: access.client, isScarce, nodes: chooseNodes(input, isScarce, options) });
  const { nodes, targets, allowance } = hasNames
    ? await chargeByName(hosts, choose, options)
    : charge(hosts, choose(), options);
  const headers = rateHeaders(allowance);
  if (!allowance.ok) throw limited(allowance, headers, options.compatible);
  const run = await options.checks.start({ spec, shown: shownSpec(spec, input), nodes, policy: access.policy });
  // Names can mean another address to a node than they did here.
  if (hasNames) chargeReached(run, new Set(targets), options.limits);
  return { run, headers };
}

interface Choice {
  readonly client: string;
  readonly isScarce: boolean;
  readonly nodes: readonly NodeInfo[];
}

interface CheckCharge extends Pick<Choice, 'nodes'> {
  readonly targets: readonly string[];
  readonly allowance: Allowance;
}

const chargeOf = ({ client, isScarce, nodes }: Choice, targets: readonly string[]): LimitCharge => {
  return { client, isScarce, nodes: nodes.map(({ name }) => name), targets };
};

function charge(hosts: readonly string[], choice: Choice, { destinations, limits }: ServiceOptions): CheckCharge {
  const targets = distinct(hosts.map((host) => destinations.named(host)));
  return { nodes: choice.nodes, targets, allowance: limits.take(chargeOf(choice, targets)) };
}

const distinct = (lists: readonly (readonly string[])[]) => [...new Set(lists.flat())];

// Who may start nothing now does not make us look up names.
async function chargeByName(
  hosts: readonly string[],
  choose: () => Choice,
  { destinations, limits }: ServiceOptions,
): Promise<CheckCharge> {
  const named = distinct(hosts.map((host) => destinations.named(host)));
  const first = choose();
  const before = limits.peek(chargeOf(first, named));
  if (!before.ok) return { nodes: first.nodes, targets: named, allowance: before };
  const targets = distinct(await Promise.all(hosts.map(async (host) => destinations.reached(host))));
  // Others may have used up what these nodes had left.
  const choice = choose();
  return { nodes: choice.nodes, targets, allowance: limits.take(chargeOf(choice, targets)) };
}

function chargeReached(run: CheckRun, charged: ReadonlySet<string>, limits: Limits): void {
  const seen = new Set<number>();
  const look = () => {
    for (const [position, { outcome }] of run.results.entries()) {
      if (outcome === null || seen.has(position)) continue;
      seen.add(position);
      const network = outcome.address === null ? null : networkOf(outcome.address);
      if (network !== null && !charged.has(network)) limits.note(network, 1);
    }
  };
  look();
  run.onChange(look);
}

export type AccessGrant = Extract<AccessDecision, { ok: true }>;

/** Who pays for a check, and what it may reach; throws an `ApiFailure` for a caller that may start none. */
export function admit(request: FastifyRequest, { access: rules }: ServiceOptions): AccessGrant {
  const { ip, headers, socket } = request;
  const access = accessOf({ ip, peer: socket.remoteAddress ?? '', headers }, rules);
  if (access.ok) return access;
  throw new ApiFailure(access.error, access.message, access.error === 'unauthorized' ? challenge : {});
}

function readSpec({ type, host, options }: Pick<StartInput, 'type' | 'host' | 'options'>): CheckSpec {
  if (host === null) throw new ApiFailure('invalid_host', 'host is missing: name what is to be checked');
  const read = CheckSpec.safeParse({ ...checkOf(type).overApi, ...options, type, host }, { error: wordIssue });
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  if (issue !== undefined && issue.path[0] !== 'host') {
    throw new ApiFailure('invalid_option', describeIssue(issue, { ...options, type, host }, ['options']));
  }
  throw new ApiFailure('invalid_host', `host ${issue?.message ?? 'is no target'}`);
}

// The link to a check is no secret, but request headers may be: they are not stored.
function shownSpec(spec: CheckSpec, { options, ...input }: StartInput): CheckSpec {
  const { headers, ...shown } = options;
  return headers === undefined ? spec : readSpec({ ...input, options: shown });
}

const noRules = addressRules([], []);

// Names are judged by the nodes, which resolve them; an address can be refused at once.
function hostsOf(spec: CheckSpec, { policy }: AccessGrant): readonly string[] {
  return [spec.host, ...checkOf(spec.type).otherHosts(spec)].map((host) => {
    const endpoint = parseEndpoint(host);
    const name = endpoint.ok ? endpoint.name : host;
    const objection = addressObjection(name, policy, noRules, []);
    if (objection === null || objection === 'no_address') return name;
    throw new ApiFailure('forbidden_target', `${name} may not be checked: ${reasons[policy]}`);
  });
}

const reasons = {
  public: 'only public addresses are',
  private: 'it is neither a public nor a private address',
} as const;

function chooseNodes(
  { type, nodes, locations, maxNodes }: StartInput,
  isScarce: boolean,
  options: ServiceOptions,
): readonly NodeInfo[] {
  const online = options.checks.nodes().filter((node) => node.online);
  const burden = { usedOf: (node: string) => options.limits.usedOf(node, isScarce), random: options.random };
  const named = nodes.map((text) => text.toLowerCase());
  const wrong = named.find((text) => !NodeId.safeParse(text).success && !/^[a-z]{2}\d{1,9}$/.test(text));
  if (wrong !== undefined)
    throw new ApiFailure('invalid_node', `"${wrong}" is no node identifier such as "de1.node.${options.nodeDomain}"`);
  if (named.length > 0) {
    const chosen = online.filter(
      ({ info: { name } }) => named.includes(name) || named.includes(nodeIdOf(name, options.nodeDomain)),
    );
    if (chosen.length === 0)
      throw new ApiFailure(
        'no_nodes',
        `none of these nodes is online: ${named.slice(0, 5).join(', ')}; see /nodes/hosts`,
      );
    return infosOf(selectForApi(chosen.slice(0, options.maxNodes), options.maxNodes, burden));
  }
  if (online.length === 0) {
    throw new ApiFailure('no_nodes', 'no node is online', { status: 503, headers: { 'retry-after': '1' } });
  }
  const there = locations.length === 0 ? online : online.filter(({ info }) => locations.some((one) => isAt(info, one)));
  if (there.length === 0) throw new ApiFailure('no_nodes', 'no node at this location is online; see /api/v1/nodes');
  // A node that cannot run this type can only say so: others come first.
  const able = there.filter(({ capabilities }) => capabilities[type]?.able !== false);
  const count = countOf(maxNodes, options.maxNodes);
  return infosOf(selectForApi(able.length > 0 ? able : there, count, burden));
}

const infosOf = (nodes: readonly NodeStatus[]) => nodes.map(({ info }) => info);

function countOf(written: string | null, limit: number): number {
  const count = written !== null && /^\d{1,15}$/.test(written) ? Number(written) : 0;
  return count === 0 ? limit : Math.min(count, limit);
}

/** What is left to a client. */
export function rateHeaders({
  limit,
  remaining,
  resetSeconds,
  resource,
}: Pick<Allowance, 'limit' | 'remaining' | 'resetSeconds' | 'resource'>): Record<string, string> {
  return {
    'x-ratelimit-limit': String(limit),
    'x-ratelimit-remaining': String(remaining),
    'x-ratelimit-reset': String(resetSeconds),
    'x-ratelimit-resource': resource,
  };
}

function limited(
  { hit, retryAfterSeconds }: Allowance,
  headers: Record<string, string>,
  compatible: boolean,
): ApiFailure {
  return new ApiFailure('limit_exceeded', `${hit} is used up: try again in ${retryAfterSeconds} seconds`, {
    headers: { ...headers, 'retry-after': String(retryAfterSeconds) },
    ...(compatible ? { status: 200 } : {}),
  });
}
