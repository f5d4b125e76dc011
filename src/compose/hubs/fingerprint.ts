import { createHash } from 'node:crypto';
import type { Config } from '#config/config.ts';

const known = new WeakMap<Config, string>();

/** Equal for configurations that watch, judge and notify alike. Names of hubs, addresses and files of one machine do not count. */
export function fingerprintOf(config: Config): string {
  const before = known.get(config);
  if (before !== undefined) return before;
  const { targets, notify, maintenance, pages, retention, unknownAfterMs, doubtLimitMs, summary } = config;
  const alike = { targets, notify, maintenance, pages, retention, unknownAfterMs, doubtLimitMs, summary };
  const fingerprint = createHash('sha256').update(JSON.stringify(alike)).digest('hex').slice(0, 12);
  known.set(config, fingerprint);
  return fingerprint;
}
