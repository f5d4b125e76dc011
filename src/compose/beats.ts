import type { FastifyPluginAsync } from 'fastify';
import { checkOf } from '#checks/index.ts';
import type { StartupState } from '#compose/startup-state.ts';
import type { Config } from '#config/config.ts';
import { type BeatRoutes, beatRoutes, prefixLength } from '#web/beats.ts';

/** Where jobs call; what is expected of which is what the configuration in force says. */
export function beatsOf(
  upcoming: StartupState,
  ports: Pick<BeatRoutes, 'onAnswered' | 'clock' | 'log'>,
): readonly FastifyPluginAsync[] {
  let known: { readonly of: Config['targets']; readonly owners: BeatOwners } | null = null;
  const owners = () => {
    const { targets } = upcoming.inForce();
    if (known?.of !== targets) known = { of: targets, owners: ownersOf(targets) };
    return known.owners;
  };
  return [
    beatRoutes({
      ...ports,
      ownersOf: (prefix) => owners().get(prefix) ?? [],
      hear: async (target, beat) => upcoming.watching?.monitor.hear(target, beat) ?? false,
    }),
  ];
}

type BeatOwners = ReadonlyMap<string, readonly { readonly target: string; readonly hash: string }[]>;

function ownersOf(targets: Config['targets']): BeatOwners {
  const owners = targets.flatMap(({ name, spec }) => {
    const hash = checkOf(spec.type).heard?.(spec).secretHash ?? null;
    return hash === null ? [] : [{ target: name, hash }];
  });
  return Map.groupBy(owners, ({ hash }) => hash.slice(0, prefixLength));
}
