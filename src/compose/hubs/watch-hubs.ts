import type { NatsConnection } from '@nats-io/transport-node';
import { askHubs, type HubStatus } from '#hubs/peers.ts';
import type { Clock } from '#kernel/clock.ts';
import { messageOf } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';

export interface HubsWatchOptions {
  /** Null without NATS. */
  readonly connection: () => NatsConnection | null;
  /** How the hubs are that can be reached. */
  readonly ask?: typeof askHubs;
  readonly own: () => HubStatus;
  readonly clock: Clock;
  readonly log: Log;
}

const lookEveryMs = 20_000;
const leaderlessMs = 60_000;

/** Logs, once for each change, that no hub leads for a minute, and what differs between the leader and other hubs. */
export function watchHubs({ connection, ask = askHubs, own, clock, log }: HubsWatchOptions): Disposable {
  let leaderlessSince: number | null = null;
  let isReported = false;
  let differing = '';
  let isOver = false;
  let timer = clock.after(lookEveryMs, look);

  function look(): void {
    void others().then((found) => {
      if (isOver) return;
      judge(found);
      timer = clock.after(lookEveryMs, look);
    });
  }

  async function others(): Promise<readonly HubStatus[]> {
    const current = connection();
    try {
      return current === null ? [] : await ask(current);
    } catch (error) {
      log.debug({ reason: messageOf(error) }, 'cannot ask the other hubs');
      return [];
    }
  }

  function judge(found: readonly HubStatus[]): void {
    const hubs = [...found.filter(({ name }) => name !== own().name), own()];
    judgeLeader(hubs);
    if (own().role === 'leader') compare(hubs);
  }

  function judgeLeader(hubs: readonly HubStatus[]): void {
    const now = clock.elapsed();
    if (hubs.some(({ role }) => role !== 'follower')) {
      if (isReported) log.info('a hub leads again');
      leaderlessSince = null;
      isReported = false;
      return;
    }
    leaderlessSince ??= now;
    if (isReported || now - leaderlessSince < leaderlessMs) return;
    isReported = true;
    log.error({ trouble: own().trouble }, 'no hub leads as far as this one can see: nothing is judged or notified');
  }

  function compare(hubs: readonly HubStatus[]): void {
    const { fingerprint, version } = own();
    const configuration = hubs.filter((hub) => hub.fingerprint !== fingerprint).map(({ name }) => name);
    const versions = hubs.filter((hub) => hub.version !== version).map((hub) => `${hub.name} ${hub.version}`);
    const found = JSON.stringify([configuration, versions]);
    if (found === differing) return;
    differing = found;
    if (configuration.length > 0) log.warn({ hubs: configuration }, 'other hubs have another configuration');
    if (versions.length > 0) log.warn({ hubs: versions }, 'other hubs have another version');
  }

  return {
    [Symbol.dispose]() {
      isOver = true;
      timer[Symbol.dispose]();
    },
  };
}
