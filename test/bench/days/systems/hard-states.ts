import { readFileSync } from 'node:fs';
import type { Past } from './system.ts';

// What avail.cgi of Nagios computes with its default options
// (https://assets.nagios.com/downloads/nagioscore/docs/nagioscore/4/en/cgis.html#avail_cgi): hard states only, and a state lasts until
// the next one, also while the program does not run.

const line =
  /^\[(?<at>\d+)\] (?:SERVICE ALERT|(?:CURRENT|INITIAL) SERVICE STATE): (?<host>[^;]+);(?<service>[^;]+);(?<state>\w+);HARD;/;

/** The seconds in which the service of each target was CRITICAL or UNKNOWN, by logs in Nagios' format. */
export function downtimesOfLogs(
  paths: readonly string[],
  service: string,
  { targets, from, to }: Pick<Past, 'targets' | 'from' | 'to'>,
): ReadonlyMap<string, number> {
  if (paths.length === 0) throw new Error('there is no log');
  const changes = paths
    .flatMap((path) => readFileSync(path, 'utf8').split('\n'))
    .flatMap((text) => {
      const found = line.exec(text)?.groups;
      if (found?.['service'] !== service) return [];
      const isUp = found['state'] === 'OK' || found['state'] === 'WARNING';
      return [{ at: Number(found['at']) * 1_000, host: found['host'], isUp }];
    })
    .toSorted((one, other) => one.at - other.at);
  const downtimeOf = (name: string) => {
    let [isUp, since, downMs] = [true, from, 0];
    for (const change of changes.filter(({ host }) => host === name)) {
      const at = Math.min(Math.max(change.at, from), to);
      if (!isUp) downMs += at - since;
      [isUp, since] = [change.isUp, at];
    }
    if (!isUp) downMs += to - since;
    return downMs / 1_000;
  };
  return new Map(targets.map(({ name }) => [name, downtimeOf(name)]));
}
