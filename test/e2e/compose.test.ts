import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { openComposition } from '../support/compose.ts';
import { natsObstacle } from '../support/nats-server.ts';
import { namespaceObstacle } from '../support/network-namespace.ts';
import { eventually } from '../support/program.ts';
import { needsProgram } from '../support/programs.ts';

const root = new URL('../../', import.meta.url).pathname;
const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8');
const obstacle = natsObstacle() ?? namespaceObstacle();

const standIns = {
  build: {
    entry: JSON.parse(/^ENTRYPOINT (.*)$/m.exec(dockerfile)?.[1] ?? '[]') as string[],
    folder: /^WORKDIR (.*)$/m.exec(dockerfile)?.[1] ?? '/',
    user: Number(/^USER (\d+):/m.exec(dockerfile)?.[1]),
  },
  nats: { entry: ['nats-server'], user: 0 },
  mail: { entry: ['node', '/app/test/support/mail-child.ts'], command: ['1025'], user: 65_534 },
  prometheus: {
    entry: ['prometheus'],
    command: ['--config.file=/etc/prometheus/prometheus.yml', '--storage.tsdb.path=/prometheus'],
    user: 65_534,
  },
};

test.skipIf(obstacle !== null)(
  `config/compose.yaml works as its comments say: hub, nodes, figures and mail${obstacle === null ? '' : ` (skipped: ${obstacle})`}`,
  async (context) => {
    for (const name of ['openssl', 'prometheus', 'curl']) needsProgram(context, name, name);
    await using composition = openComposition(standIns);
    expect(composition.setUp).toHaveLength(6);
    for (const command of composition.setUp) await composition.runOnce(command);

    const services = composition.up();
    const mails: string[] = [];
    createInterface({ input: services.get('mail')!.stdout! }).on('line', (line) => mails.push(line));
    const log: string[] = [];
    for (const name of ['hub', 'us1', 'de1', 'nats']) {
      createInterface({ input: services.get(name)!.stderr! }).on('line', (line) => log.push(`${name} ${line}`));
    }
    const get = (url: string) => composition.outside(['curl', '-fs', url]);
    await eventually(60_000, () => {
      const text = get('http://10.91.0.1:8080/metrics');
      const seen = [...text.matchAll(/^watchpost_target_state\{target="(\w+)",state="up"\} 1$/gm)].map(
        ([, name]) => name,
      );
      expect(seen, log.join('\n')).toEqual(expect.arrayContaining(['metrics', 'prometheus', 'nats']));
      for (const node of ['zz1', 'us1', 'de1']) {
        expect(text).toMatch(
          new RegExp(`^watchpost_check_last_duration_seconds\\{target="nats",check="ping",node="${node}"\\}`, 'm'),
        );
      }
    });
    await eventually(30_000, () => {
      const answer = get('http://10.91.0.5:9090/api/v1/query?query=up');
      expect(answer).toMatch(/"job":"watchpost"[^]*"1"/);
    });

    expect(
      await composition.runOnce(
        'docker compose --file config/compose.yaml run --rm --no-deps hub alert test --kind opened',
      ),
    ).toContain('accepted');
    await eventually(10_000, () => expect(mails).toEqual([expect.stringContaining('[TEST]')]));
    for (const name of ['hub', 'us1', 'de1', 'nats', 'prometheus', 'mail']) {
      expect(services.get(name)?.exitCode, `${name}: ${log.join('\n')}`).toBe(null);
    }
  },
);
