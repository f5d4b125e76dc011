import type { Config } from '#config/config.ts';
import type { ConfiguredNode } from '#config/nodes.ts';
import type { ThreadNode } from '#transport/thread.ts';

/** A node of the configuration as a thread of this process; it loads what these targets need before it is ready. */
export function threadNodeOf(
  { info, localAddress, inFlight, asnFile, dockerSocket, systemdSocket, plugins }: ConfiguredNode,
  targets: Config['targets'] | undefined,
): ThreadNode {
  return {
    info,
    options: {
      localAddress,
      asnFile,
      dockerSocket,
      systemdSocket,
      plugins,
      policy: 'private',
      allow: [],
      deny: [],
      knownAs: info.ip === '' ? [] : [info.ip],
      running: inFlight,
      queued: 10 * inFlight,
      types: [...new Set(targets?.map(({ spec }) => spec.type))],
    },
  };
}
