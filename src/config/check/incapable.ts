import { checkOf } from '#checks/index.ts';
import type { Target } from '#monitor/judge/target.ts';
import type { ConfiguredNode } from '../config.ts';

type SelectingTarget = Pick<Target, 'name' | 'spec' | 'nodes'>;

/** A warning for each target that nodes of this process may be asked to check though they cannot. */
export function incapableNodeWarnings(
  targets: readonly SelectingTarget[],
  nodes: readonly ConfiguredNode[],
): readonly string[] {
  return targets.flatMap(({ name, spec, nodes: selection }) => {
    const { needs, needsEngine } = checkOf(spec.type);
    const needed = needs?.(spec);
    if (needed === undefined) return [];
    const asked = nodes.filter(({ info }) => selection.kind !== 'named' || selection.names.includes(info.name));
    const unable = asked
      .filter(({ plugins = {}, dockerSocket }) =>
        needsEngine ? dockerSocket === undefined : !Object.hasOwn(plugins, needed),
      )
      .map(({ info }) => info.name);
    if (unable.length === 0) return [];
    if (needsEngine) return `${name} needs docker_socket, which is not set: ${unable.join(', ')} cannot check it`;
    return `${name} needs the plugin "${needed}", which plugins does not offer: ${unable.join(', ')} cannot check it`;
  });
}
