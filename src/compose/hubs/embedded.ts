import { stat } from 'node:fs/promises';
import { embeddedSeedFile } from '#config/hub.ts';
import { threadNodeOf } from '#compose/thread-nodes.ts';
import type { Config, NatsAccess } from '#config/config.ts';
import type { ConfiguredNode } from '#config/nodes.ts';
import { isSame } from '#config/apply/same.ts';
import { type Clock, endsWithin } from '#kernel/clock.ts';
import { createInTurn } from '#kernel/concurrency.ts';
import { messageOf } from '#kernel/errors.ts';
import { unlessMissing } from '#kernel/files.ts';
import type { Log } from '#kernel/log.ts';
import { exposedAdvice, isExposed } from '#kernel/private-files.ts';
import type { Random } from '#kernel/random.ts';
import type { Secret } from '#kernel/secret.ts';
import type { StopGuard } from '#kernel/stop-watch.ts';
import { openSpool } from '#node/spool.ts';
import { inboxOf } from '#protocol/nodes.ts';
import type { EmbeddedNode } from '#transport/nats/direct.ts';
import { readSeed } from '#transport/nats/keys.ts';
import { startRemoteNode } from '#transport/nats/node.ts';
import { createThreadTransport } from '#transport/thread.ts';

/** The nodes inside one of several hubs that have a key: they serve whichever hub leads, for as long as this process runs. */
export interface EmbeddedNodes extends AsyncDisposable {
  /** Has those of this configuration run and no others, and gives them. One without a key is left out, and the log says so. */
  use(config: NodesConfig): Promise<readonly EmbeddedNode[]>;
  /** Whether this is the process of one of them. */
  isHere(process: string): boolean;
}

interface NodesConfig extends Pick<Config, 'nodes' | 'nats'> {
  /** Nodes load what these need before they are ready. */
  readonly targets?: Config['targets'] | undefined;
}

export interface EmbeddedNodesOptions {
  /** The database file: what waits for a hub is kept beside it. */
  readonly data: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly version: string;
  /** What the threads of nodes relieve. */
  readonly guard?: StopGuard | null | undefined;
}

/** A node that runs, and how it was configured. */
interface RunningNode extends EmbeddedNode {
  readonly by: { readonly node: ConfiguredNode; readonly nats: NatsAccess };
  stop(): Promise<void>;
}

// As for other nodes: docs/nodes.md.
const spoolLimits = { longestMs: 86_400_000, most: 50_000 };
const readyMs = 15_000;
const finishMs = 4_000;
// The next hub that leads needs a moment to ask for it.
const handInMs = 2_000;

export function openEmbeddedNodes(options: EmbeddedNodesOptions): EmbeddedNodes {
  const { log } = options;
  const inTurn = createInTurn();
  const running = new Map<string, RunningNode>();
  const reported = new Set<string>();

  async function seedOf(access: NatsAccess, name: string): Promise<Secret | null> {
    const file = embeddedSeedFile(access, name);
    const wayOut = `enrol it with "watchpost nodes add ${name}", and restart this hub`;
    try {
      if ((await unlessMissing(stat(file))) !== null) {
        if (await isExposed(file)) log.warn({ file }, exposedAdvice(file));
        return await readSeed(file, wayOut);
      }
      if (!reported.has(name))
        log.warn({ node: name, file }, `this node has no key and checks only while this hub leads: ${wayOut}`);
    } catch (error) {
      log.error({ node: name, reason: messageOf(error) }, 'this node checks only while this hub leads');
    }
    reported.add(name);
    return null;
  }

  async function begin(node: ConfiguredNode, nats: NatsAccess, targets: Config['targets'] | undefined): Promise<void> {
    const { name } = node.info;
    const seed = await seedOf(nats, name);
    if (seed === null) return;
    running.set(name, { ...(await startNode(node, nats, seed, targets, options)), by: { node, nats } });
  }

  async function use({ nodes, nats, targets }: NodesConfig): Promise<readonly EmbeddedNode[]> {
    const wanted = new Map(nodes.map((node) => [node.info.name, node]));
    for (const [name, one] of running) {
      if (isSame(one.by, { node: wanted.get(name), nats })) continue;
      running.delete(name);
      await one.stop();
    }
    const missing = nodes.filter(({ info }) => !running.has(info.name));
    if (nats !== null) await Promise.all(missing.map(async (node) => begin(node, nats, targets)));
    return [...running.values()];
  }

  return {
    use: async (config) => inTurn(async () => use(config)),
    isHere: (process) => [...running.values()].some(({ remote }) => remote.process === process),
    async [Symbol.asyncDispose]() {
      await inTurn(async () => {
        await Promise.all([...running.values()].map(async (one) => one.stop()));
        running.clear();
      });
    },
  };
}

async function startNode(
  node: ConfiguredNode,
  { servers, ca }: NatsAccess,
  seed: Secret,
  targets: Config['targets'] | undefined,
  { data, clock, random, log: parentLog, version, guard }: EmbeddedNodesOptions,
): Promise<Omit<RunningNode, 'by'>> {
  const { name } = node.info;
  const log = parentLog.child({ node: name });
  const spool = openSpool({ path: `${data}.spool-${name}`, ...spoolLimits, clock, log });
  if (spool.size > 0) log.info({ results: spool.size }, 'results of an earlier run are waiting for the hub');
  const threadNode = threadNodeOf(node, targets);
  const module = new URL('../../node/thread.ts', import.meta.url);
  const local = createThreadTransport({ nodes: [threadNode], module, guard, clock, log });
  await endsWithin(local.started, clock, readyMs);
  const remote = startRemoteNode({
    name,
    account: { servers, seed, ca, name: `watchpost node ${name}`, inbox: inboxOf(name) },
    local,
    spool,
    limit: threadNode.options.running + threadNode.options.queued,
    version,
    refusedMs: Number.POSITIVE_INFINITY,
    clock,
    random,
    log,
  });
  return {
    name,
    local,
    remote,
    async stop() {
      await remote.stop(finishMs, handInMs);
      await local.close();
      spool.close();
    },
  };
}
