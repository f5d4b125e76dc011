import type { Checking } from '#compose/checking.ts';
import type { Config } from '#config/config.ts';
import type { Assets } from '#web/assets/assets.ts';
import { pageRoutes } from '#web/pages/routes.ts';
import { createSite } from '#web/pages/site.ts';

// The part of compose.ts that is about pages: what they are about, and where it comes from.

export interface PagesOver {
  readonly checking: Checking;
  readonly assets: Assets;
}

/** The pages that this configuration has. */
export function pagesOf({ ownService }: Config, { checking, assets }: PagesOver) {
  const { runs } = checking;
  const service =
    ownService === null || runs === null
      ? null
      : {
          nodes: () => runs.nodes().flatMap(({ online, info }) => (online ? [info] : [])),
          maxNodes: ownService.limits.max_nodes,
        };
  const site = createSite({ assets, places: [...(service === null ? [] : (['check'] as const)), 'nodes'] });
  const nodes = () =>
    checking.statuses().map((status) => ({ ...status, awayMs: null, targets: null, disagreement: null }));
  return { site, routes: pageRoutes({ site, assets, service, nodes }) };
}
