import { readFile } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyPluginAsync } from 'fastify';
import { checkOf, CheckSpec, createResolver } from '#checks/index.ts';
import type { CheckRunnerEnvironment } from '#compose/checking.ts';
import type { Config } from '#config/config.ts';
import { startChore } from '#kernel/chore.ts';
import { WatchpostError } from '#kernel/errors.ts';
import { isSame } from '#config/apply/same.ts';
import { type Checks, createChecks } from '#service/checks.ts';
import { corsHeaders } from '#service/http/cors.ts';
import { checkService } from '#service/http/routes.ts';
import { createLimits, type LimitCharge, type Limits, type RateLimits } from '#service/limits.ts';
import type { ServicePages } from '#service/ports.ts';
import type { Runs } from '#service/runs.ts';
import { createDestinationLimits, lookupOver, type DestinationLimits } from '#service/destinations.ts';
import type { Store } from '#store/sqlite.ts';

export interface ServiceDependencies extends Pick<CheckRunnerEnvironment, 'clock' | 'random' | 'log'> {
  readonly runs: () => Runs | null;
  readonly store: Store;
  readonly started: AsyncDisposableStack;
  readonly retention: Config['retention'];
  /** What this hub shares with others; null if it is the only one. */
  readonly sharing: CheckSharing | null;
}

/** What the check services of several hubs share. */
export interface CheckSharing {
  /** What identifiers of checks of this hub begin with. */
  readonly idTag: string;
  /** To be called with what was granted here. */
  readonly granted: (charge: LimitCharge) => void;
  /** Has a listener called with what other hubs have granted; it replaces the one before. */
  readonly listen: (listener: (charge: LimitCharge) => void) => void;
}

/** The check service over HTTP, as a configuration asks for it. */
export interface CheckService {
  /** Its routes; none if the configuration has no service. Checks go on, and so do allowances whose limits stay. */
  routesOf(config: Config, pages: ServicePages): readonly FastifyPluginAsync[];
  /** The headers by which pages of the origins that it names may read errors. */
  corsOf(config: Config): (headers: IncomingHttpHeaders) => Readonly<Record<string, string>>;
  /** Runs a check of the operator's own from all nodes, and gives the name of the run. Nothing but its type and host is kept. */
  checkNow(spec: CheckSpec): Promise<string>;
}

export function openService({ started, store, runs, retention, sharing, ...parts }: ServiceDependencies): CheckService {
  const open = started.use(new AsyncDisposableStack());
  let opened: { readonly checks: Checks; readonly destinations: DestinationLimits } | null = null;
  let allowances: { readonly by: RateLimits; readonly limits: Limits } | null = null;

  function start(over: Runs) {
    const { clock, log } = parts;
    const checks = createChecks({ ...parts, runs: over, store: store.checks, idTag: sharing?.idTag ?? '' });
    const resolver = createResolver({
      clock,
      readFile: async (path) => readFile(path, 'utf8'),
      timeoutMs: 400,
      limitMs: 1_000,
    });
    open.defer(async () => checks.close());
    const step = () => store.checks.pruneRuns({ before: store.deletionNow() - retention.checksMs, limit: 200 }) > 0;
    open.use(startChore({ step, trouble: 'old checks were not deleted', clock, log }));
    return { checks, destinations: createDestinationLimits(lookupOver(resolver, log), clock) };
  }

  return {
    async checkNow(spec) {
      const over = runs();
      const nodes = (over?.nodes() ?? []).flatMap(({ online, info }) => (online ? [info] : []));
      if (over === null || nodes.length === 0) throw new WatchpostError('usage', 'no node is online');
      opened ??= start(over);
      const shown = CheckSpec.parse({ ...checkOf(spec.type).overApi, type: spec.type, host: spec.host });
      return (await opened.checks.start({ spec, shown, nodes, policy: 'private' })).id;
    },
    corsOf: ({ ownService }) => {
      const rules = { origins: ownService?.cors ?? [] };
      return (headers) => corsHeaders(headers, rules);
    },
    routesOf({ ownService, http }, pages) {
      const over = runs();
      if (ownService === null || over === null) return [];
      opened ??= start(over);
      const { open: isOpen, allowPrivate, tokens, cors, limits, nodeDomain, compatible } = ownService;
      if (allowances === null || !isSame(allowances.by, limits)) {
        const made = createLimits(limits, parts.clock, sharing?.granted);
        sharing?.listen((charge) => made.grantedElsewhere(charge));
        allowances = { by: limits, limits: made };
      }
      return [
        checkService({
          ...opened,
          limits: allowances.limits,
          access: {
            open: isOpen,
            allowPrivate,
            origins: cors,
            tokens: tokens.map(({ name, hash }) => ({ name, hash: Buffer.from(hash, 'hex') })),
          },
          nodeDomain,
          maxNodes: limits.max_nodes,
          publicUrl: http.publicUrl,
          compatible,
          pages,
          ...parts,
        }),
      ];
    },
  };
}
