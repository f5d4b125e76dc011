import { channelTypes } from '#channels/index.ts';
import type { Clock } from '#kernel/clock.ts';
import { WatchpostError } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import { watchForChanges } from './changes.ts';
import type { Config } from './config.ts';
import { isSame } from './same.ts';

/** Where the configuration comes from. */
export interface ConfigSource {
  /** Rejects with `config_invalid` where it is wrong. */
  load(): Promise<Config>;
  /** Differs where the files do. */
  fingerprint(): Promise<string>;
}

/** Names of targets by what a new configuration did to them. */
export interface AppliedTargets {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
}

export type Reloaded =
  | ({ readonly ok: true; readonly needsRestart: readonly string[] } & AppliedTargets)
  | { readonly ok: false; readonly problems: readonly string[] };

export interface Reloader extends Disposable {
  /** The configuration whose targets are watched now. */
  readonly inForce: Config;
  /** Loads the configuration anew and applies it. An invalid one changes nothing. One at a time. */
  reload(cause: string): Promise<Reloaded>;
}

export interface ReloaderOptions {
  readonly config: Config;
  /** Null where nobody knows it: then there is nothing to reload. */
  readonly source: ConfigSource | null;
  readonly clock: Clock;
  readonly log: Log;
  /** Makes what may fail: throws `config_invalid`, and then nothing changes. Gives what puts it into force. */
  readonly prepare?: (config: Config) => () => void;
  readonly apply: (config: Config) => AppliedTargets;
  /** Told of every attempt, for metrics. */
  readonly onReloaded: (successful: boolean) => void;
}

const lookEveryMs = 5_000;
// What takes effect without a restart; everything else is only read at the start.
const applied: readonly string[] = [
  ...(['targets', 'maintenance', 'notify', 'contacts', 'exposedFiles'] satisfies readonly (keyof Config)[]),
  ...(['retention', 'heartbeat', 'summary'] satisfies readonly (keyof Config)[]),
  ...channelTypes.flatMap((type) => Object.keys(type.sections)),
];

/** Reloads when it is asked to and when the files change. */
export function createReloader(options: ReloaderOptions): Reloader {
  const { source, clock, log, prepare = () => () => {}, apply, onReloaded } = options;
  const started = options.config;
  let inForce = started;
  let turn: Promise<unknown> = Promise.resolve();

  async function reloadNow(cause: string): Promise<Reloaded> {
    if (source === null) return { ok: false, problems: ['nobody knows where the configuration came from'] };
    let next: Config;
    let putIntoForce: () => void;
    try {
      next = await source.load();
      putIntoForce = prepare(next);
    } catch (error) {
      if (!(error instanceof WatchpostError)) throw error;
      const problems = error.message.split('\n');
      log.error({ cause, problems }, 'configuration not reloaded: it is invalid, the one in force stays');
      onReloaded(false);
      return { ok: false, problems };
    }
    const targets = apply(next);
    inForce = next;
    putIntoForce();
    const needsRestart = changedKeys(started, next).filter((key) => !applied.includes(key));
    if (needsRestart.length > 0) log.warn({ keys: needsRestart }, 'changes that take effect after a restart only');
    log.info({ cause, ...targets }, 'configuration reloaded');
    onReloaded(true);
    return { ok: true, needsRestart, ...targets };
  }

  async function reload(cause: string): Promise<Reloaded> {
    const mine = turn.then(async () => reloadNow(cause));
    turn = mine.catch(() => {});
    return mine;
  }

  const watching =
    source === null
      ? null
      : watchForChanges({
          clock,
          everyMs: lookEveryMs,
          fingerprint: async () => source.fingerprint(),
          onChange: () =>
            void reload('the files changed').catch((error: unknown) => log.error({ err: error }, 'reload failed')),
        });

  return {
    get inForce() {
      return inForce;
    },
    reload,
    [Symbol.dispose]: () => watching?.[Symbol.dispose](),
  };
}

function changedKeys(before: Config, after: Config): readonly string[] {
  const values = new Map(entriesOf(before));
  return entriesOf(after).flatMap(([key, value]) => (isSame(values.get(key), value) ? [] : [key]));
}

// A channel's own section goes by the name that people write.
function entriesOf({ sections, ...own }: Config): readonly (readonly [string, unknown])[] {
  return [...Object.entries(own), ...Object.entries(sections)];
}
