import { readFile } from 'node:fs/promises';
import { createResolver } from '#checks/index.ts';
import type { Environment } from '#compose/checking.ts';
import type { Config } from '#config/config.ts';
import { startChore } from '#kernel/chore.ts';
import { createChecks } from '#service/checks.ts';
import { checkService } from '#service/http/routes.ts';
import { createLimits } from '#service/limits.ts';
import type { ServicePages } from '#service/ports.ts';
import type { Runs } from '#service/runs.ts';
import { createVictims, lookupOver } from '#service/victims.ts';
import type { Store } from '#store/sqlite.ts';

export interface ServiceParts extends Pick<Environment, 'clock' | 'random' | 'log'> {
  readonly runs: Runs | null;
  readonly store: Store;
  readonly started: AsyncDisposableStack;
  readonly pages: ServicePages;
}

/** The check service over HTTP, where the configuration asks for it. */
export function serviceOf(
  { ownService, http, retention }: Config,
  { started, store, runs, pages, ...parts }: ServiceParts,
) {
  if (ownService === null || runs === null) return [];
  const { open, allowPrivate, tokens, limits, nodeDomain, compatible } = ownService;
  const { clock, log } = parts;
  const checks = createChecks({ ...parts, runs, store: store.checks });
  const resolver = createResolver({
    clock,
    readFile: async (path) => readFile(path, 'utf8'),
    timeoutMs: 400,
    limitMs: 1_000,
  });
  started.defer(async () => checks.close());
  const step = () => store.checks.pruneRuns({ before: clock.now() - retention.checksMs, limit: 200 }) > 0;
  started.use(startChore({ step, trouble: 'old checks were not deleted', clock, log }));
  return [
    checkService({
      checks,
      limits: createLimits(limits, clock),
      victims: createVictims(lookupOver(resolver, log), clock),
      access: {
        open,
        allowPrivate,
        tokens: tokens.map(({ name, hash }) => ({ name, hash: Buffer.from(hash, 'hex') })),
      },
      nodeDomain,
      maxNodes: limits.max_nodes,
      publicUrl: http.publicUrl,
      compatible,
      pages,
      clock,
      random: parts.random,
      log,
    }),
  ];
}
