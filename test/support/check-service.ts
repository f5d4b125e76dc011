import { openDocs } from '#web/pages/docs.ts';
import { join } from 'node:path';
import type { NodeInfo, Outcome } from '#checks/index.ts';
import { type Clock, systemClock } from '#kernel/clock.ts';
import { systemRandom } from '#kernel/random.ts';
import type { AccessRules } from '#service/access.ts';
import { type Checks, createChecks } from '#service/checks.ts';
import { corsHeaders } from '#service/http/cors.ts';
import { checkService } from '#service/http/routes.ts';
import { createLimits, type RateLimits } from '#service/limits.ts';
import type { NodeCommand, NodeStatus, Transport } from '#service/ports.ts';
import { createRuns } from '#service/runs.ts';
import { createDestinationLimits, type NameLookup } from '#service/destinations.ts';
import type { Store } from '#store/sqlite.ts';
import { createThreadTransport } from '#transport/thread.ts';
import { type Assets, loadAssets } from '#web/assets/assets.ts';
import { pageRoutes } from '#web/pages/routes.ts';
import { createSite } from '#web/pages/site.ts';
import type { WebOptions } from '#web/server.ts';
import { serveWeb } from './web.ts';
import { eventually } from './program.ts';
import { openAt, quiet, tempFolder } from './store.ts';
import { nodeInfo } from './votes.ts';

/** A check service on a port of its own. */
export interface TestService extends AsyncDisposable {
  readonly url: string;
  readonly checks: Checks;
  readonly store: Store;
  /** The folder of its database: hand it on to start another one on the same data. */
  readonly path: string;
}

export interface TestServiceOptions {
  readonly transport: Transport;
  readonly clock?: Clock;
  readonly access?: Partial<AccessRules>;
  readonly rates?: Partial<RateLimits>;
  readonly lookup?: NameLookup;
  readonly maxNodes?: number;
  readonly openLimit?: number;
  readonly publicUrl?: string;
  readonly compatible?: boolean;
  readonly trustProxy?: readonly string[];
  readonly web?: WebOptions['limits'] | undefined;
  readonly path?: string;
}

let loading: Promise<Assets> | null = null;
// Half the tests of the service start one each.
const loadedOnce = async (): Promise<Assets> => (loading ??= loadAssets());

const plenty = { count: 1_000_000, perMs: 1_000 };
export const domain = 'watchpost.internal';

export async function startService(options: TestServiceOptions): Promise<TestService> {
  const { transport, clock = systemClock } = options;
  await using started = new AsyncDisposableStack();
  const path = options.path ?? started.use(tempFolder()).path;
  const store = started.use(openAt(join(path, 'watchpost.db'), clock));
  started.defer(async () => transport.close());
  const { openLimit } = options;
  const checks = createChecks({
    runs: createRuns(transport, clock),
    store: store.checks,
    clock,
    random: systemRandom,
    log: quiet,
    ...(openLimit === undefined ? {} : { openLimit }),
  });
  started.defer(async () => checks.close());
  const assets = await loadedOnce();
  const site = createSite({
    assets,
    places: ['check', 'nodes'],
    service: { nodes: () => transport.nodes().map(({ info }) => info), maxNodes: 20 },
  });
  const access = { open: false, allowPrivate: 'loopback', origins: [], tokens: [], ...options.access } as const;
  const plugin = checkService({
    pages: site,
    checks,
    limits: createLimits(
      {
        per_client: plenty,
        per_target: plenty,
        per_node: plenty,
        overall: plenty,
        domain_per_client: plenty,
        domain_per_node: plenty,
        ...options.rates,
      },
      clock,
    ),
    destinations: createDestinationLimits(options.lookup ?? (async () => []), clock),
    access,
    nodeDomain: domain,
    maxNodes: options.maxNodes ?? 50,
    publicUrl: options.publicUrl ?? null,
    compatible: options.compatible ?? false,
    clock,
    random: systemRandom,
    log: quiet,
  });
  const web = started.use(
    await serveWeb({
      log: quiet,
      plugins: [
        plugin,
        pageRoutes({
          docs: openDocs(),
          site,
          assets,
          hasMonitor: false,
          access: null,
          service: { nodes: () => checks.nodes().flatMap(({ online, info }) => (online ? [info] : [])), maxNodes: 50 },
          nodes: () => checks.nodes().map((node) => ({ ...node, targets: null, disagreement: null })),
        }),
      ],
      problemPage: (problem) => site.problem(problem),
      cors: (headers) => corsHeaders(headers, access),
      trustProxy: options.trustProxy ?? [],
      ...(options.web === undefined ? {} : { limits: options.web }),
    }),
  );
  const all = started.move();
  return {
    url: `http://127.0.0.1:${web.addr().port}`,
    checks,
    store,
    path,
    [Symbol.asyncDispose]: async () => all.disposeAsync(),
  };
}

/** Three nodes in threads of their own. */
export const places: readonly NodeInfo[] = [
  nodeInfo('de1', { country: 'Germany', city: 'Frankfurt', asn: 'AS64500', ip: '192.0.2.10' }),
  nodeInfo('de2', { country: 'Germany', city: 'Berlin', asn: 'AS64501', ip: '192.0.2.11' }),
  nodeInfo('us1', { countryCode: 'us', country: 'USA', city: 'Los Angeles', asn: 'AS64502', ip: '192.0.2.12' }),
];

/** Real nodes, each in a thread. Resolves once all of them are ready. */
export async function threadNodes(infos: readonly NodeInfo[] = places): Promise<Transport> {
  const transport = createThreadTransport({
    nodes: infos.map((info) => ({
      info,
      options: { localAddress: {}, policy: 'private', allow: [], deny: [], knownAs: [], running: 100, queued: 1_000 },
    })),
    module: new URL('../../src/node/thread.ts', import.meta.url),
    clock: systemClock,
    log: quiet,
  });
  await eventually(60_000, () => {
    if (transport.nodes().some(({ online }) => !online)) throw new Error('a node has not started');
  });
  return transport;
}

/** Nodes that answer as the test says; without an answer they wait until somebody gives one. */
export function fakeNodes(
  infos: readonly NodeInfo[] = places,
  answer: (node: string, command: NodeCommand, signal: AbortSignal) => Outcome | Promise<Outcome> = waiting,
) {
  const offline = new Set<string>();
  const commands: { readonly node: string; readonly command: NodeCommand }[] = [];
  const transport: Transport & {
    readonly offline: Set<string>;
    readonly commands: readonly { readonly node: string; readonly command: NodeCommand }[];
  } = {
    offline,
    commands,
    nodes: () =>
      infos.map((info): NodeStatus => {
        const online = !offline.has(info.name);
        const reason = online ? null : 'it is asleep at 10.1.2.3';
        return { info, online, reason, capabilities: {}, running: 0, queued: 0, lagSeconds: 0 };
      }),
    async run(node, command, signal) {
      commands.push({ node, command });
      return answer(node, command, signal);
    },
    assign: () => {},
    listen: () => {},
    close: async () => {},
  };
  return transport;
}

/** An answer that never comes. */
export async function waiting(_node: string, _command: NodeCommand, signal: AbortSignal): Promise<Outcome> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
}
