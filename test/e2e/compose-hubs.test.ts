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
const nats = { entry: ['nats-server'], user: 0 };

const standIns = {
  build: {
    entry: JSON.parse(/^ENTRYPOINT (.*)$/m.exec(dockerfile)?.[1] ?? '[]') as string[],
    folder: /^WORKDIR (.*)$/m.exec(dockerfile)?.[1] ?? '/',
    user: Number(/^USER (\d+):/m.exec(dockerfile)?.[1]),
  },
  nats1: nats,
  nats2: nats,
  nats3: nats,
};

const machines = {
  one: ['nats1', 'hub-a', 'us1'],
  two: ['nats2', 'hub-b', 'de1'],
  three: ['nats3'],
};

test.skipIf(obstacle !== null)(
  `config/compose.hubs.yaml works as its comments say: the first machine dies, a third hub joins${obstacle === null ? '' : ` (skipped: ${obstacle})`}`,
  async (context) => {
    for (const name of ['openssl', 'curl']) needsProgram(context, name, name);
    await using composition = openComposition(standIns, 'compose.hubs.yaml');
    expect(composition.setUp).toHaveLength(7);
    for (const command of composition.setUp) await composition.runOnce(command);

    const log: string[] = [];
    const start = (wanted: readonly string[]) => {
      const services = composition.up(wanted);
      for (const name of wanted)
        createInterface({ input: services.get(name)!.stderr! }).on('line', (line) => log.push(`${name} ${line}`));
      return services;
    };
    // In the order of the file.
    const addresses = { a: '10.91.0.2', b: '10.91.0.5', c: '10.91.0.8' };
    const metricsOf = (hub: keyof typeof addresses) =>
      composition.outside(['curl', '-fs', `http://${addresses[hub]}:8080/metrics`]);
    const services = start(Object.values(machines).flat());
    await eventually(90_000, () => {
      for (const hub of ['a', 'b'] as const) {
        const text = metricsOf(hub);
        for (const target of ['nats1', 'nats2', 'nats3'])
          expect(text, log.join('\n')).toContain(`watchpost_target_state{target="${target}",state="up"} 1`);
        for (const node of ['us1', 'de1'])
          expect(text).toMatch(
            new RegExp(`^watchpost_check_last_duration_seconds\\{target="nats3",check="tcp",node="${node}"\\}`, 'm'),
          );
      }
      expect(metricsOf('a')).toMatch(/^watchpost_hub_degraded\{hub="b"\} 0$/m);
    });

    for (const name of machines.one) services.get(name)?.kill('SIGKILL');
    await eventually(60_000, () => {
      const text = metricsOf('b');
      expect(text, log.join('\n')).toMatch(/^watchpost_hub_leader 1$/m);
      expect(text).toMatch(/^watchpost_hub_alone 0$/m);
      expect(text).toContain('watchpost_target_state{target="nats1",state="down"} 1');
    });

    start(['hub-c']);
    await eventually(60_000, () => {
      const text = metricsOf('c');
      expect(text, log.join('\n')).toMatch(/^watchpost_hub_leader 0$/m);
      expect(text).toContain('watchpost_target_state{target="nats1",state="down"} 1');
      expect(text).toMatch(/^watchpost_hub_lag_records \d$/m);
    });
    for (const name of [...machines.two, ...machines.three])
      expect(services.get(name)?.exitCode, `${name}: ${log.join('\n')}`).toBe(null);
  },
  300_000,
);
