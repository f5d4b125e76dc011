import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const root = new URL('../../', import.meta.url).pathname;

// Every file that operators are given, and a test that does with it what it is there for: it is read there by this name.
const exercised: Readonly<Record<string, readonly [test: string, name: string]>> = {
  'compose.hubs.watchpost.yaml': ['config/compose.hubs.yaml', 'compose.hubs.watchpost.yaml'],
  'compose.hubs.yaml': ['test/e2e/compose-hubs.test.ts', 'compose.hubs.yaml'],
  'compose.watchpost.yaml': ['config/compose.yaml', 'compose.watchpost.yaml'],
  'compose.yaml': ['test/e2e/compose.test.ts', 'compose.yaml'],
  grafana: ['test/unit/grafana.test.ts', 'config/grafana'],
  'hubs.nats.conf': ['test/integration/nodes.test.ts', 'hubs.nats.conf'],
  'kubernetes.hubs.yaml': ['test/integration/kubernetes-hubs.test.ts', 'kubernetes.hubs.yaml'],
  'kubernetes.yaml': ['test/integration/units.test.ts', 'config/kubernetes.yaml'],
  'nats.conf': ['test/e2e/nodes.test.ts', 'nats.conf'],
  'prometheus.rules.yaml': ['test/support/prometheus.ts', 'prometheus.rules.yaml'],
  'watchpost-node.service': ['test/integration/units.test.ts', 'watchpost-node'],
  'watchpost.schema.json': ['test/unit/config/json-schema.test.ts', 'watchpost.schema.json'],
  'watchpost.service': ['test/integration/units.test.ts', 'watchpost'],
  'watchpost.yaml': ['.ci/smoke', 'config/watchpost.yaml'],
  'webhook.schema.json': ['test/unit/channels/webhook-schema.test.ts', 'webhook.schema.json'],
};

test('every file of config/ is exercised by a test', () => {
  expect(readdirSync(`${root}config`).sort()).toEqual(Object.keys(exercised).sort());
  const unread = Object.entries(exercised).filter(
    ([, [path, name]]) => !readFileSync(root + path, 'utf8').includes(name),
  );
  expect(unread).toEqual([]);
});
