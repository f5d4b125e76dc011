import type { Clock } from '#kernel/clock.ts';
import { createInTurn } from '#kernel/concurrency.ts';
import { WatchpostError } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import { inSteps, type Steps } from '#kernel/turns.ts';
import { watchForChanges } from './changes.ts';
import type { Config } from '../config.ts';
import type { TargetEditor } from '../edit/edit-targets.ts';
import type { ListState } from '../lists/follow-lists.ts';
import { isSame } from './same.ts';

/** Where the configuration comes from. */
export interface ConfigSource {
  /** Rejects with `config_invalid` if it is wrong, and with the reason of the signal when that is aborted. */
  load(signal?: AbortSignal): Promise<Config>;
  /** Differs if the files do. */
  fingerprint(): Promise<string>;
  /** The fingerprint of what `load` has read last, as it was before that; null if nothing was read yet. */
  fingerprintRead(): string | null;
  /** How the lists of targets come in that it names. */
  lists(): readonly ListState[];
  /** Changes the targets in the files; absent if they cannot be changed. */
  readonly editor?: TargetEditor;
}

/** Names of targets by what a new configuration did to them. */
export interface AppliedTargets {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
}

export type ReloadResult =
  | ({ readonly ok: true; readonly needsRestart: readonly string[] } & AppliedTargets)
  | { readonly ok: false; readonly problems: readonly string[] };

/** An attempt to reload. */
export interface ReloadReport {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly cause: string;
  readonly result: ReloadResult;
}

export interface Reloader extends Disposable {
  /** The configuration whose targets are watched now. */
  readonly inForce: Config;
  /** Those since the start, the newest first. */
  readonly reports: readonly ReloadReport[];
  /** Loads the configuration anew and applies it. An invalid one changes nothing. One at a time. */
  reload(cause: string): Promise<ReloadResult>;
}

export interface ReloaderOptions {
  readonly config: Config;
  /** Null if it is unknown: then there is nothing to reload. */
  readonly source: ConfigSource | null;
  readonly clock: Clock;
  readonly log: Log;
  /** Makes what may fail: throws `config_invalid`, and then nothing changes. Gives what puts it into force. */
  readonly prepare?: (config: Config) => Promise<() => void> | (() => void);
  readonly apply: (config: Config) => AppliedTargets;
  /** Called for every attempt, for metrics. */
  readonly onReloaded: (successful: boolean) => void;
}

const lookEveryMs = 5_000;
const mostReports = 20;

/** The names, as people write them, of what is read at the start only. */
export const readAtStart = ['data', 'http.listen', 'http.admin', 'http.connections', 'hubs'] as const;

function fixedParts(config: Config): Readonly<Record<(typeof readAtStart)[number], unknown>> {
  const { data, http, hubs } = config;
  return {
    data,
    hubs,
    'http.listen': [http.host, http.port],
    'http.admin': http.admin,
    'http.connections': http.connections,
  };
}

/** The names of what differs and takes effect after a restart only. */
function needingRestart(before: Config, after: Config): readonly string[] {
  const [old, fresh] = [fixedParts(before), fixedParts(after)];
  return readAtStart.filter((name) => !isSame(old[name], fresh[name]));
}

// What cannot change yet stays as it was at the start.
function keepingFixed(started: Config, next: Config): Config {
  const { data, http, hubs } = started;
  const { host, port, admin, connections } = http;
  return { ...next, data, hubs, http: { ...next.http, host, port, admin, connections } };
}

// An unchanged target stays the same object, so that nothing has to compare it again and it is in memory once.
function* keepingTargets(before: Config, next: Config): Steps<Config> {
  const known = new Map(before.targets.map((target) => [target.name, target]));
  yield;
  const targets: Config['targets'][number][] = [];
  for (const target of next.targets) {
    const old = known.get(target.name);
    targets.push(old !== undefined && isSame(old, target) ? old : target);
    yield;
  }
  return { ...next, targets };
}

/** Reloads when it is asked to and when the files change. */
export function createReloader(options: ReloaderOptions): Reloader {
  const { source, clock, log, prepare = () => () => {}, apply, onReloaded } = options;
  const started = options.config;
  let inForce = started;
  let wanted = started;
  let reports: readonly ReloadReport[] = [];
  const inTurn = createInTurn();
  // One of many targets takes seconds.
  const ending = new AbortController();
  const stopped: ReloadResult = { ok: false, problems: ['Watchpost is stopping'] };

  async function reloadNow(cause: string): Promise<ReloadResult> {
    if (source === null) return { ok: false, problems: ['the source of the configuration is unknown'] };
    let loaded: Config;
    let next: Config;
    let putIntoForce: () => void;
    try {
      loaded = await source.load(ending.signal);
      next = await inSteps(keepingTargets(inForce, keepingFixed(started, loaded)), clock, ending.signal);
      putIntoForce = await prepare(next);
    } catch (error) {
      if (ending.signal.aborted) return stopped;
      if (!(error instanceof WatchpostError)) throw error;
      const problems = error.message.split('\n');
      log.error({ cause, problems }, 'configuration is invalid; keeping the running one');
      onReloaded(false);
      return { ok: false, problems };
    }
    if (ending.signal.aborted) return stopped;
    const targets = apply(next);
    inForce = next;
    putIntoForce();
    const needsRestart = needingRestart(started, loaded);
    const news = needingRestart(wanted, loaded).filter((name) => needsRestart.includes(name));
    if (news.length > 0) log.warn({ keys: news }, 'some changes take effect after a restart');
    wanted = loaded;
    log.info({ cause, ...targets }, 'configuration reloaded');
    onReloaded(true);
    return { ok: true, needsRestart, ...targets };
  }

  const reload = async (cause: string) =>
    inTurn(async () => {
      watching?.pause();
      const result = await reloadNow(cause).finally(() => watching?.resume(source?.fingerprintRead() ?? null));
      reports = [{ at: clock.now(), cause, result }, ...reports].slice(0, mostReports);
      return result;
    });

  const watching =
    source === null
      ? null
      : watchForChanges({
          clock,
          everyMs: lookEveryMs,
          fingerprint: async () => source.fingerprint(),
          log,
          onChange: () =>
            void reload('the files changed').catch((error: unknown) => log.error({ err: error }, 'reload failed')),
        });

  return {
    get inForce() {
      return inForce;
    },
    get reports() {
      return reports;
    },
    reload,
    [Symbol.dispose]() {
      watching?.[Symbol.dispose]();
      ending.abort(new Error('Watchpost is stopping'));
    },
  };
}
