import { checkOf, type SocketSetting } from '#checks/index.ts';
import type { Target } from '#monitor/judge/target.ts';
import type { ConfiguredNode } from '../nodes.ts';

type SelectingTarget = Pick<Target, 'name' | 'spec' | 'nodes'>;

/** A warning for each target that nodes of this process may be asked to check though they cannot. */
export function incapableNodeWarnings(
  targets: readonly SelectingTarget[],
  nodes: readonly ConfiguredNode[],
): readonly string[] {
  return targets.flatMap(({ name, spec, nodes: selection }) => {
    const { needs, needsSocket } = checkOf(spec.type);
    const needed = needs?.(spec);
    if (needed === undefined) return [];
    const asked = nodes.filter(({ info }) => selection.kind !== 'named' || selection.names.includes(info.name));
    const unable = asked
      .filter((node) =>
        needsSocket === null ? !Object.hasOwn(node.plugins ?? {}, needed) : socketOf(node, needsSocket) === undefined,
      )
      .map(({ info }) => info.name);
    if (unable.length === 0) return [];
    if (needsSocket !== null)
      return `${name} needs ${needsSocket}, which is not set: ${unable.join(', ')} cannot check it`;
    return `${name} needs the plugin "${needed}", which plugins does not offer: ${unable.join(', ')} cannot check it`;
  });
}

const socketOf = ({ dockerSocket, systemdSocket }: ConfiguredNode, setting: SocketSetting) =>
  ({ docker_socket: dockerSocket, systemd_socket: systemdSocket })[setting];
