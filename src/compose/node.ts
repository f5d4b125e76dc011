import type { NodeConfig } from '#config/shape/node.ts';
import type { Clock } from '#kernel/clock.ts';
import { messageOf, WatchpostError } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import { exposedAdvice, isExposed } from '#kernel/private-files.ts';
import type { Random } from '#kernel/random.ts';
import type { Secret } from '#kernel/secret.ts';
import type { StopGuard } from '#kernel/stop-watch.ts';
import { openSpool } from '#node/spool.ts';
import { inboxOf } from '#protocol/nodes.ts';
import { parseSeed, readSeed } from '#transport/nats/keys.ts';
import { startRemoteNode } from '#transport/nats/node.ts';
import { createThreadTransport } from '#transport/thread.ts';

export interface NodeProcessEnvironment {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly version: string;
  /** What the thread that checks relieves. */
  readonly guard?: StopGuard | null;
}

/** A running node on a machine of its own. */
export interface NodeProcess {
  /** Rejects with `node_revoked` once the node has been refused for too long. */
  readonly ended: Promise<never>;
  /** Takes no more checks, lets running ones finish for a while, and keeps what the hub has not confirmed. */
  stop(): Promise<void>;
}

const finishMs = 4_000;

/** Starts a node: tries out what it can do, then offers that to its hub. Rejects with a catalogued error. */
export async function startNodeProcess(config: NodeConfig, environment: NodeProcessEnvironment): Promise<NodeProcess> {
  const { clock, random, log, version, guard } = environment;
  const { name, servers, ca } = config;
  const seed = await seedOf(config);
  if ('file' in config.seed && (await isExposed(config.seed.file)))
    log.warn({ file: config.seed.file }, exposedAdvice(config.seed.file));
  await using started = new AsyncDisposableStack();
  const spool = openSpool({ ...config.spool, clock, log });
  started.defer(() => spool.close());
  if (spool.size > 0) log.info({ results: spool.size }, 'results of an earlier run are waiting for the hub');
  // Checks run in a thread of their own here too, so that neither NATS nor the disk delays them.
  const local = createThreadTransport({
    nodes: [
      {
        info: { name, countryCode: '', country: '', city: '', asn: '', ip: '' },
        options: {
          localAddress: config.localAddress,
          asnFile: config.asnFile,
          dockerSocket: config.dockerSocket,
          systemdSocket: config.systemdSocket,
          plugins: config.plugins,
          policy: config.policy,
          allow: config.allow,
          deny: config.deny,
          knownAs: config.knownAs,
          running: config.inFlight,
          queued: config.queued,
        },
      },
    ],
    module: new URL('../node/thread.ts', import.meta.url),
    guard,
    clock,
    log,
  });
  started.defer(async () => local.close());
  await local.started;
  const [status] = local.nodes();
  if (status?.online !== true) {
    const reason = status?.reason ?? 'no answer';
    throw new WatchpostError('internal', `the node could not test its capabilities: ${reason}`);
  }
  log.info({ node: name, capabilities: status.capabilities }, 'node is ready');

  const remote = startRemoteNode({
    name,
    account: { servers, seed, ca, name: `watchpost node ${name}`, inbox: inboxOf(name) },
    local,
    spool,
    limit: config.inFlight + config.queued,
    version,
    refusedMs: config.refusedMs,
    clock,
    random,
    log,
  });
  started.defer(async () => remote.stop(finishMs));
  const rest = started.move();
  const ended = remote.revoked.then((reason) => {
    throw new WatchpostError(
      'node_revoked',
      `node ${name} was revoked: ${reason}; enrol it again with "watchpost nodes add"`,
    );
  });
  // A caller that never waits for the end still finds it in the log.
  ended.catch((error: unknown) => log.error({ reason: messageOf(error) }, 'node is refused'));
  return { ended, stop: () => rest.disposeAsync() };
}

async function seedOf({ seed }: NodeConfig): Promise<Secret> {
  const wayOut = 'it is what "watchpost nodes add" printed';
  if ('file' in seed) return readSeed(seed.file, wayOut);
  try {
    return parseSeed(seed.text.trim());
  } catch (error) {
    throw new WatchpostError('config_invalid', `seed: is not an nkey seed (${messageOf(error)}); ${wayOut}`, {
      cause: error,
    });
  }
}
