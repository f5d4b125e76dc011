import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createMachineClock } from '../../../crash/machine-clock.ts';
import { certificateDays, type Mail, namesIn, type Report, seconds, slowerThan, type System, urlOf } from './system.ts';

// docs/configuration.md and docs/alerting.md; rules as in config/watchpost.yaml.

const program = new URL('../../../../src/watchpost.js', import.meta.url).pathname;
const three = {
  de1: { location: ['de', 'Germany', 'Frankfurt'] },
  fr1: { location: ['fr', 'France', 'Paris'] },
  us1: { location: ['us', 'United States', 'Ashburn'] },
};

export const watchpost: System = watchpostWith('Watchpost, 1 node', {});
export const watchpostOfThree: System = watchpostWith('Watchpost, 3 nodes', three);

function watchpostWith(name: string, nodes: object): System {
  return {
    name,
    packages: [],
    setUp({ folder, targets, mailHost, recipients, authority }) {
      const configuration = join(folder, 'watchpost.yaml');
      const config = {
        data: join(folder, 'watchpost.db'),
        http: { listen: '127.0.0.1:0' },
        smtp: { url: `smtp://${mailHost}:25`, from: 'Watchpost <alerts@example.com>' },
        ...(Object.keys(nodes).length > 0 && { nodes }),
        defaults: { every: `${seconds.every}s`, rules: ['down', 'slow', 'certificate'], notify: ['ops'] },
        rules: {
          down: { failing: 'majority', rounds: 2, recover: 2, severity: 'critical' },
          slow: { latency: { above: `${slowerThan}s`, window: '30s' } },
          certificate: { certificate: { expires_within: `${certificateDays}d` } },
        },
        notify: {
          ops: {
            email: { to: recipients },
            group_wait: `${seconds.groupWait}s`,
            group_interval: `${seconds.groupInterval}s`,
          },
        },
        targets: Object.fromEntries(
          targets.map((target) => [
            target.name,
            {
              check: 'http',
              host: urlOf(target),
              timeout: `${seconds.timeout}s`,
              ...(target.isTls && { tls: { ca: readFileSync(authority, 'utf8') } }),
            },
          ]),
        ),
      };
      // JSON is YAML.
      writeFileSync(configuration, JSON.stringify(config, null, 1));
      const clock = createMachineClock(folder);
      return {
        commands: [
          {
            words: [process.execPath, ...clock.words, program, 'run', '--config', configuration],
            environment: clock.environment,
            restarts: true,
          },
        ],
        configuration,
        check: null,
        setClock: (aheadMs) => clock.set(aheadMs),
      };
    },
    read,
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
