import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createMachineClock } from '../../../support/machine-clock.ts';
import {
  certificateDays,
  type LocalTime,
  type Mail,
  namesIn,
  type Past,
  type Report,
  slowerThan,
  type System,
  urlOf,
} from './system.ts';

// docs/configuration.md and docs/alerting.md; rules as in config/watchpost.yaml.

const program = new URL('../../../../src/watchpost.js', import.meta.url).pathname;
const three = {
  de1: { location: ['de', 'Germany', 'Frankfurt'] },
  fr1: { location: ['fr', 'France', 'Paris'] },
  us1: { location: ['us', 'United States', 'Ashburn'] },
};

const changesInBerlin: Record<LocalTime['change'], string> = {
  begins: '2026-03-29T01:00:00Z',
  ends: '2026-10-25T01:00:00Z',
};

export const watchpost: System = watchpostWith('Watchpost, 1 node', 8081, {});
export const watchpostOfThree: System = watchpostWith('Watchpost, 3 nodes', 8083, three);

function watchpostWith(name: string, port: number, nodes: object): System {
  return {
    name,
    packages: [],
    setUp({ folder, targets, mailHost, recipients, authority, times, path, zone }) {
      const configuration = join(folder, 'watchpost.yaml');
      const config = {
        data: join(folder, 'watchpost.db'),
        http: { listen: `127.0.0.1:${port}` },
        smtp: { url: `smtp://${mailHost}:25`, from: 'Watchpost <alerts@example.com>' },
        ...(Object.keys(nodes).length > 0 && { nodes }),
        defaults: { every: `${times.every}s`, rules: ['down', 'slow', 'certificate'], notify: ['ops'] },
        rules: {
          down: { failing: 'majority', rounds: 2, recover: 2, severity: 'critical' },
          slow: { latency: { above: `${slowerThan}s`, window: `${Math.max(10, 3 * times.every)}s` } },
          certificate: { certificate: { expires_within: `${certificateDays}d` } },
        },
        notify: {
          ops: {
            email: { to: recipients },
            group_wait: `${times.groupWait}s`,
            group_interval: `${times.groupInterval}s`,
          },
        },
        targets: Object.fromEntries(
          targets.map((target) => [
            target.name,
            {
              check: 'http',
              host: urlOf(target, path),
              timeout: `${times.timeout}s`,
              ...(target.isTls && { tls: { ca: readFileSync(authority, 'utf8') } }),
            },
          ]),
        ),
      };
      // JSON is YAML.
      writeFileSync(configuration, JSON.stringify(config, null, 1));
      const clock = createMachineClock(folder);
      // Node has time zones of its own: with the clock at a change in Berlin it has the same day.
      const aheadMs = zone === undefined ? 0 : Date.parse(changesInBerlin[zone.change]) - zone.changeAt;
      clock.set(aheadMs);
      return {
        commands: [
          {
            words: [process.execPath, program, 'run', '--config', configuration],
            environment: { ...clock.environment, ...(zone !== undefined && { TZ: 'Europe/Berlin' }) },
            restarts: true,
          },
        ],
        configuration,
        check: null,
        setClock: (ahead) => clock.set(ahead),
        aheadMs,
      };
    },
    read,
    downtimes: (past) => downtimes(port, past),
  };
}

// A mail about several incidents has two tables, "Going on" and "Over"; one that was delayed until the end reports both.
function read({ subject, text }: Mail): Report {
  const table = (title: string) => {
    const rows = new RegExp(`^${title}\\n((?:  .*\\n?)*)`, 'm').exec(text)?.[1] ?? '';
    return [...rows.matchAll(/^ {2}(web-\d\d)\b/gm)].map(([, name = '']) => name);
  };
  const [going, over] = [table('Going on'), table('Over')];
  if (going.length + over.length > 0) return { began: [...going, ...over], ended: over };
  const names = namesIn(subject);
  if (!/^\[(?:RESOLVED|CLOSED)\]/.test(subject)) return { began: names, ended: [] };
  return { began: /delayed/.test(subject) ? names : [], ended: names };
}

function downtimes(port: number, { from, to, run }: Past): ReadonlyMap<string, number> {
  const iso = (at: number) => new Date(at).toISOString();
  const url = `http://127.0.0.1:${port}/api/v1/report?limit=100&from=${iso(from)}&to=${iso(to)}`;
  const { targets } = JSON.parse(run(['curl', '-sS', url])) as {
    targets: readonly { target: string; time: { down: number } | null }[];
  };
  return new Map(targets.flatMap(({ target, time }) => (time === null ? [] : [[target, time.down]])));
}
