import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { makeKeyPair } from '#transport/nats/keys.ts';
import { permissionsFile } from '#transport/nats/permissions.ts';
import { issue } from '../support/certificates.ts';
import { commandHere } from '../support/command.ts';
import { natsObstacle } from '../support/nats-server.ts';

interface Document {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: {
    readonly replicas?: number;
    readonly serviceName?: string;
    readonly minAvailable?: number;
    readonly selector?: { readonly matchLabels?: Readonly<Record<string, string>> };
    readonly template?: {
      readonly metadata: { readonly labels: Readonly<Record<string, string>> };
      readonly spec: Pod;
    };
    readonly volumeClaimTemplates?: readonly { readonly metadata: { readonly name: string } }[];
  };
}
interface Pod {
  readonly containers: readonly Container[];
  readonly volumes: readonly { readonly name: string }[];
}
interface Container {
  readonly args: readonly string[];
  readonly volumeMounts: readonly { readonly name: string }[];
}

const source = readFileSync(new URL('../../config/kubernetes.hubs.yaml', import.meta.url), 'utf8');
const documents = parseAllDocuments(source).map((one) => one.toJS() as Document);
const find = (kind: string, name: string) => {
  const found = documents.find((one) => one.kind === kind && one.metadata.name === name);
  if (found === undefined) throw new Error(`there is no ${kind} ${name}`);
  return found;
};
const obstacle = natsObstacle();
let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'watchpost-kubernetes-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function writeSecrets(): Promise<void> {
  const { cert, key } = await issue({ names: ['nats'] });
  const [hub, node] = [makeKeyPair(), makeKeyPair()];
  mkdirSync(join(folder, 'secrets'));
  const files = {
    'nats.pem': cert,
    'nats.key': key,
    'hub.nk': hub.seed.reveal(),
    'nodes.json': JSON.stringify({ nodes: { us1: { key: node.key, enrolled_at: '2026-01-01T00:00:00Z' } } }),
    'nodes.conf': permissionsFile([{ name: null, key: hub.key }], [{ name: 'us1', key: node.key }]),
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, 'secrets', name), text, { mode: 0o600 });
}

test('config/kubernetes.hubs.yaml: the configuration of the hubs is good, and each is called like its pod', async () => {
  await writeSecrets();
  const text = find('ConfigMap', 'watchpost-hubs').data?.['watchpost.yaml'] ?? '';
  expect(text).toContain('name: "${POD_NAME}"');
  const path = join(folder, 'watchpost.yaml');
  writeFileSync(path, text.replaceAll('/secrets', join(folder, 'secrets')).replace('${POD_NAME}', 'watchpost-0'));
  expect(await commandHere(['config', 'check', '--config', path])).toMatchObject({ err: '', code: 0 });
});

test.skipIf(obstacle !== null)(
  `config/kubernetes.hubs.yaml: nats-server takes its configuration${obstacle === null ? '' : ` (${obstacle})`}`,
  async () => {
    await writeSecrets();
    const text = find('ConfigMap', 'watchpost-nats').data?.['nats.conf'] ?? '';
    const always = 'sync_interval: always';
    expect(text).toContain(always);
    mkdirSync(join(folder, 'config'));
    const path = join(folder, 'config', 'nats.conf');
    // Debian's nats-server 2.9 does not know it.
    writeFileSync(
      path,
      text.replace(always, '').replaceAll('"/secrets', `"${folder}/secrets`).replace('"/data', `"${folder}/data`),
    );
    const tried = execFileSync('bash', ['-c', 'nats-server -t --config "$1" --name nats-0 2>&1', 'bash', path]);
    expect(tried.toString()).toContain('is valid');
  },
);

test('config/kubernetes.hubs.yaml: sets are selected by their labels, named by their services, and mount what they have', () => {
  const services = documents.filter(({ kind }) => kind === 'Service').map(({ metadata }) => metadata.name);
  for (const { kind, spec, metadata } of documents) {
    if (spec?.template === undefined) continue;
    if (kind === 'StatefulSet') expect(services).toContain(spec.serviceName);
    expect(spec.selector?.matchLabels).toEqual(spec.template.metadata.labels);
    const [container] = spec.template.spec.containers;
    const volumes = [
      ...spec.template.spec.volumes.map(({ name }) => name),
      ...(spec.volumeClaimTemplates ?? []).map((one) => one.metadata.name),
    ];
    expect(new Set(container?.volumeMounts.map(({ name }) => name)), metadata.name).toEqual(new Set(volumes));
  }
  const servers = find('StatefulSet', 'nats').spec?.replicas ?? 0;
  expect(servers).toBe(3);
  expect(find('PodDisruptionBudget', 'watchpost-nats').spec?.minAvailable).toBe(2);
  const named = new Set([...source.matchAll(/nats-(\d)\.nats:/g)].map(([, index]) => Number(index)));
  expect(named).toEqual(new Set(Array.from({ length: servers }, (_, index) => index)));
});
