import type { Daemon } from '#compose/daemon.ts';
import type { CheckRunnerEnvironment } from '#compose/checking.ts';
import { createForwarding, leaderFor } from '#compose/hubs/forward.ts';
import { statusOf } from '#compose/hubs/status.ts';
import { type HubLink, openLink } from '#compose/hubs/link.ts';
import { takeLate } from '#compose/hubs/late.ts';
import { type HubParts, openParts } from '#compose/hubs/parts.ts';
import { type HubChecks, openHubChecks } from '#compose/hubs/checks.ts';
import { type EmbeddedNodes, openEmbeddedNodes } from '#compose/hubs/embedded.ts';
import { observeHubs } from '#compose/hubs/observe-hubs.ts';
import { loadAgain } from '#compose/hubs/load-again.ts';
import { giveUpLease } from '#compose/hubs/hand-over.ts';
import { fetchHistory, putInPlace } from '#compose/hubs/restore.ts';
import type { Config } from '#config/config.ts';
import type { ConfiguredHub } from '#config/hub.ts';
import type { ConfigSource, ReloadResult } from '#config/apply/reload.ts';
import type { HistoryReader } from '#history/reader.ts';
import type { HubStatus } from '#hubs/peers.ts';
import { createInTurn } from '#kernel/concurrency.ts';
import { WatchpostError } from '#kernel/errors.ts';
import { backUp } from '#store/backup.ts';
import { type States, statesSince } from '#web/state/states.ts';
import type { WebServer } from '#web/server.ts';

// One of several hubs: the same parts as of the only one, around a store that is written through their log.

/** Starts one of several hubs. It leads as soon as no other does. */
export async function startHub(
  config: Config,
  hub: ConfiguredHub,
  environment: CheckRunnerEnvironment,
  source: ConfigSource | null,
): Promise<Daemon> {
  const running = new HubDaemon(config, hub, environment, source);
  await running.open();
  return running;
}

class HubDaemon implements Daemon {
  readonly ended: Promise<void>;
  readonly #hub: ConfiguredHub;
  readonly #environment: CheckRunnerEnvironment;
  readonly #embedded: EmbeddedNodes;
  readonly #source: ConfigSource | null;
  readonly #stop = new AbortController();
  readonly #inTurn = createInTurn();
  readonly #listeners = new Set<() => void>();
  readonly #forwarding: ReturnType<typeof createForwarding>;
  #config: Config;
  #link: HubLink | null = null;
  #checks: HubChecks | null = null;
  #parts: HubParts | null = null;
  #isHandingOver = false;
  readonly #observation: ReturnType<typeof observeHubs>;
  readonly #fail: (error: unknown) => void;

  constructor(config: Config, hub: ConfiguredHub, environment: CheckRunnerEnvironment, source: ConfigSource | null) {
    this.#config = config;
    this.#hub = hub;
    this.#embedded = openEmbeddedNodes({ ...environment, data: config.data });
    const isHandedOver = () => this.#parts?.member.isSuccessor === true;
    const silentMs = (node: string) => this.#checks?.silentMs(node) ?? 0;
    this.#environment = { ...environment, isHandedOver, silentMs, embedded: this.#embedded };
    this.#source = source;
    const { promise, reject } = Promise.withResolvers<void>();
    this.ended = promise;
    this.#fail = reject;
    this.#forwarding = createForwarding({
      leader: () => leaderFor(this.#parts, this.#hub.name, this.#connection, this.#environment.clock),
      keeper: (tag) => this.#checks?.keeper(tag, this.#observation.names()) ?? null,
      stored: async () => this.#parts?.shared.idle(),
      log: environment.log,
    });
    this.#observation = observeHubs({
      hub,
      connection: () => this.#connection,
      own: () => this.#status(),
      inForce: () => this.#inForce,
      identity: () => this.#parts?.store.fact('identity', () => environment.random.id(12)) ?? '',
      storeOf: () => this.#parts?.store ?? null,
      environment,
    });
  }

  get web(): WebServer {
    return this.#open.standing.web;
  }

  get history(): HistoryReader {
    return this.#open.standing.history;
  }

  states(version: number): States {
    return statesSince(this.#open.standing.board, version);
  }

  onChange(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  async reload(cause: string): Promise<ReloadResult> {
    if (this.#parts?.monitoring) return this.#parts.monitoring.reloader.reload(cause);
    const loaded = await loadAgain(this.#source, this.#config);
    if (!('targets' in loaded)) return { ok: false, problems: loaded };
    this.#config = loaded;
    return this.#inTurn(async () => {
      // It leads by now, by the configuration of before.
      if (this.#parts?.monitoring) return this.#parts.monitoring.reloader.reload(cause);
      if (this.#parts !== null) await this.#standAgain(this.#parts);
      return { ok: true, needsRestart: [], added: [], changed: [], removed: [] };
    });
  }

  async open(): Promise<void> {
    const { nats } = this.#config;
    if (nats === null) throw new WatchpostError('config_invalid', 'hubs needs nats');
    const checks = await openHubChecks(nats, this.#hub.name, () => this.#connection, this.#environment);
    this.#checks = checks;
    this.#link = await openLink(nats, this.#hub.replicas, this.#environment, {
      ...this.#environment,
      name: this.#hub.name,
      status: () => this.#status(),
      wake: (isLease) => this.#parts?.member.wake(isLease),
      ...this.#forwarding.answers,
      takeGrants: (grants) => checks.takeGrants(grants),
      onUp: (connection) => checks.up(connection),
      onDown: () => checks.down(),
      handOver: async () => this.#inTurn(async () => this.#handOver()),
      takeLate: async (votes) => takeLate(this.#open.store, votes, this.#environment.clock.now()),
      copyTo: async (path) => void (await backUp(this.#config.data, path, { signal: this.#stop.signal })),
      copyPath: `${this.#config.data}.outgoing`,
    });
    try {
      await this.#openParts();
    } catch (error) {
      await this.#observation[Symbol.asyncDispose]();
      await this.#closeLinks();
      throw error;
    }
  }

  async stop(): Promise<void> {
    this.#stop.abort(new Error('this hub is stopping'));
    await this.#observation[Symbol.asyncDispose]();
    await this.#inTurn(async () => {
      try {
        await this.#handOver(false);
      } finally {
        await this.#closeParts();
        await this.#closeLinks();
      }
    });
  }

  async #closeLinks(): Promise<void> {
    await this.#embedded[Symbol.asyncDispose]();
    await this.#checks?.[Symbol.asyncDispose]();
    await this.#link?.close();
  }

  get #open(): HubParts {
    if (this.#parts === null)
      throw new WatchpostError('starting', 'this hub is copying the history: try again in a moment');
    return this.#parts;
  }

  get #connection() {
    return this.#link?.connection() ?? null;
  }

  get #inForce(): Config {
    return this.#parts?.monitoring?.reloader.inForce ?? this.#config;
  }

  #status(): HubStatus {
    const member = this.#parts?.member.status() ?? null;
    return statusOf(member, { name: this.#hub.name, version: this.#environment.version, config: this.#inForce });
  }

  // Transitions follow each other; what fails in one ends the program.
  #turn(act: () => Promise<void>): void {
    void this.#inTurn(async () => {
      if (!this.#stop.signal.aborted) await act();
    }).catch((error: unknown) => {
      if (!this.#stop.signal.aborted) this.#fail(error);
    });
  }

  async #openParts(): Promise<void> {
    const checks = this.#checks;
    if (checks === null) throw new WatchpostError('internal', 'this hub is not open');
    const parts = await openParts({
      config: () => this.#config,
      hub: this.#hub,
      environment: this.#environment,
      source: this.#source,
      session: async () => this.#link?.session() ?? null,
      front: this.#forwarding.front,
      isHandingOver: () => this.#isHandingOver,
      hubs: this.#observation,
      checks,
      onChange: () => {
        for (const listener of this.#listeners) listener();
      },
      onLead: () => this.#turn(async () => this.#lead()),
      onLost: () => this.#turn(async () => this.#follow()),
      onSnapshotNeeded: () => this.#turn(async () => this.#restore()),
    });
    this.#parts = parts;
    parts.member.start();
  }

  async #lead(): Promise<void> {
    const parts = this.#parts;
    if (parts === null || parts.member.status().role === 'follower') return;
    const monitoring = await parts.standing.lead();
    parts.monitoring = monitoring;
    monitoring.monitor.ended.catch((error: unknown) => this.#fail(error));
  }

  async #follow(): Promise<void> {
    const parts = this.#parts;
    if (parts === null || parts.member.status().role !== 'follower') return;
    await this.#standAgain(parts);
  }

  // What judges is stopped with everything around it, and the rest begins anew.
  async #standAgain(parts: HubParts): Promise<void> {
    const { data, hubs } = this.#config;
    this.#config = { ...this.#inForce, data, hubs };
    await parts.monitoring?.monitor.stop(0);
    await parts.standing[Symbol.asyncDispose]();
    parts.monitoring = null;
    parts.standing = await parts.stand();
    // It may lead again by now.
    if (parts.member.status().role !== 'follower') await this.#lead();
  }

  async #restore(): Promise<void> {
    const path = this.#config.data;
    if (this.#parts !== null && this.#parts.monitoring !== null) await this.#standAgain(this.#parts);
    const backlog = this.#parts?.shared.backlog() ?? [];
    const incoming = await fetchHistory({
      path,
      name: this.#hub.name,
      connection: () => this.#connection,
      ...this.#environment,
      signal: this.#stop.signal,
      backlog,
    });
    await this.#closeParts();
    await putInPlace(path, incoming);
    await this.#openParts();
    this.#environment.log.info('the history is that of the other hubs');
  }

  async #handOver(goesOn = true): Promise<void> {
    const parts = this.#parts;
    if (parts === null || parts.member.status().role === 'follower') return;
    this.#isHandingOver = true;
    try {
      const connection = () => this.#connection;
      await giveUpLease(parts, { ...this.#environment, hub: this.#hub.name, connection });
      if (goesOn) await this.#standAgain(parts);
    } finally {
      this.#isHandingOver = false;
    }
  }

  async #closeParts(): Promise<void> {
    const parts = this.#parts;
    this.#parts = null;
    if (parts === null) return;
    await parts.monitoring?.monitor.stop(0);
    await parts.standing[Symbol.asyncDispose]();
    await parts.member.close();
    await parts.store.close();
  }
}
