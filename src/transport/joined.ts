import { gone, type Transport } from '#service/ports.ts';

/** Several transports as one: a node belongs to the first that has its name. */
export function joinTransports(transports: readonly Transport[]): Transport {
  const names = (transport: Transport) => transport.nodes().map(({ info }) => info.name);
  return {
    nodes() {
      const seen = new Set<string>();
      return transports.flatMap((transport) =>
        transport.nodes().filter(({ info }) => !seen.has(info.name) && seen.add(info.name)),
      );
    },
    async run(name, command, signal) {
      const owner = transports.find((transport) => names(transport).includes(name));
      return owner === undefined ? gone(`there is no node "${name}"`) : owner.run(name, command, signal);
    },
    async close() {
      await Promise.all(transports.map(async (transport) => transport.close()));
    },
  };
}
