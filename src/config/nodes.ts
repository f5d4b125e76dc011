import { isIP } from 'node:net';
import { resolve } from 'node:path';
import type { NodeInfo, PluginCommands } from '#checks/index.ts';
import type { ConfigFile } from './shape/schema.ts';

/** A node that runs inside this process. */
export interface ConfiguredNode {
  readonly info: NodeInfo;
  /** Source addresses to probe from, per family; absent means the system's choice. */
  readonly localAddress: { readonly 4?: string; readonly 6?: string };
  readonly inFlight: number;
  /** The file of AS names for hops of paths. */
  readonly asnFile?: string;
  /** The unix socket of the container engine that it may ask. */
  readonly dockerSocket?: string;
  /** The unix socket of the message bus over which it may ask systemd. */
  readonly systemdSocket?: string;
  /** The programs that it may run as plugins, each with its arguments, by name. */
  readonly plugins?: PluginCommands;
}

/** The nodes of a configuration file; paths are absolute. */
export function nodesOf(file: ConfigFile, folder: string): readonly ConfiguredNode[] {
  const { nodes, plugins, asn_file: asnFile, docker_socket: dockerSocket, systemd_socket: systemdSocket } = file;
  const more = {
    ...(asnFile !== undefined && { asnFile: resolve(folder, asnFile) }),
    ...(dockerSocket !== undefined && { dockerSocket: resolve(folder, dockerSocket) }),
    ...(systemdSocket !== undefined && { systemdSocket: resolve(folder, systemdSocket) }),
    ...(Object.keys(plugins).length > 0 && { plugins }),
  };
  return Object.entries(nodes).map((entry) => ({ ...resolveNode(entry), ...more }));
}

function resolveNode([name, node]: [string, ConfigFile['nodes'][string]]): ConfiguredNode {
  const [countryCode, country, city] = node.location ?? ['', '', ''];
  const addresses = [node.local_address ?? []].flat();
  const [v4, v6] = [4, 6].map((family) => addresses.find((address) => isIP(address) === family));
  return {
    info: { name, countryCode, country, city, asn: node.asn ?? '', ip: node.ip ?? '' },
    localAddress: { ...(v4 === undefined ? {} : { 4: v4 }), ...(v6 === undefined ? {} : { 6: v6 }) },
    inFlight: node.in_flight,
  };
}
