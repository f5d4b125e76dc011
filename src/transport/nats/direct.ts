import type { Clock } from '#kernel/clock.ts';
import { readJson } from '#kernel/json.ts';
import type { Log } from '#kernel/log.ts';
import type { Random } from '#kernel/random.ts';
import { ResultReceipt } from '#protocol/nodes.ts';
import { nodeGoneOutcome, type NodeListener, type Transport } from '#service/ports.ts';
import { createBatches } from './batches.ts';
import type { DirectNode } from './direct-link.ts';
import type { NatsTransport } from './hub.ts';
import type { RemoteNode } from './node.ts';

/** A node of this process that serves whichever hub leads. */
export interface EmbeddedNode {
  readonly name: string;
  /** What runs its checks. */
  readonly local: Transport;
  readonly remote: RemoteNode;
}

export interface DirectTransportOptions {
  readonly nodes: readonly EmbeddedNode[];
  /** The nodes that are reached over NATS: these ones too, by other hubs. */
  readonly over: Pick<NatsTransport, 'takeResult' | 'assign'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/**
 * The nodes inside the hub that leads. They keep what they see until it is stored, as nodes on other machines do, and need no NATS for
 * it. Once this is closed they serve the next hub that leads.
 */
export function createDirectTransport({ nodes, over, clock, random, log }: DirectTransportOptions): Transport {
  const epoch = random.id(12);
  const byName = new Map(nodes.map((node) => [node.name, node]));
  const links = new Map<string, DirectNode>();
  const refusedResults = new Map<string, number>();
  let listener: NodeListener = { watching: () => {}, seen: () => {} };
  const batches = createBatches({
    isEnrolled: (name) => byName.has(name),
    heard: () => {},
    refused: (name, count) => void refusedResults.set(name, count + (refusedResults.get(name) ?? 0)),
    answer,
    listener: () => listener,
    clock,
    log,
  });

  function answer(name: string, payload: string): void {
    const receipt = readJson(ResultReceipt, payload);
    if (receipt !== null) links.get(name)?.hear(receipt);
  }

  function take(name: string, payload: string): void {
    const data = Buffer.from(payload);
    if (batches.take(name, { data, reply: name })) return;
    // It answers a command of the hub that led before.
    over.takeResult(name, {
      data,
      string: () => payload,
      respond(receipt = '') {
        answer(name, String(receipt));
        return true;
      },
    });
  }

  const connect = ({ name, remote }: EmbeddedNode): DirectNode =>
    remote.serve({
      epoch,
      take: (payload) => take(name, payload),
      watching: (number, since) => listener.watching(name, number, since),
    });

  return {
    nodes: () =>
      nodes.flatMap(({ name, local }) =>
        local.nodes().map((status) => ({ ...status, refusedResults: refusedResults.get(name) ?? 0 })),
      ),
    async run(name, command, signal, runListener) {
      const node = byName.get(name);
      return node === undefined
        ? nodeGoneOutcome(`there is no node "${name}"`)
        : node.local.run(name, command, signal, runListener);
    },
    assign(name, assignment) {
      links.get(name)?.assign(assignment);
      // Another hub may have a node of this name: one of the two watches.
      over.assign(name, { number: assignment.number, targets: [] });
    },
    listen(next) {
      listener = next;
      for (const node of nodes) if (!links.has(node.name)) links.set(node.name, connect(node));
    },
    async close() {
      for (const link of links.values()) link[Symbol.dispose]();
      links.clear();
    },
  };
}

/** A transport without what it says about the assignments of these nodes, which have theirs from another one. */
export function withoutAssignmentsOf(names: ReadonlySet<string>, transport: Transport): Transport {
  return {
    nodes: () => transport.nodes(),
    run: async (...command) => transport.run(...command),
    assign: (...assignment) => transport.assign(...assignment),
    listen: (listener) =>
      transport.listen({
        ...listener,
        watching(node, number, since) {
          if (!names.has(node)) listener.watching(node, number, since);
        },
      }),
    close: async () => transport.close(),
  };
}
