import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { fingerprintOf } from '#config/apply/changes.ts';
import { commandHere } from '../support/command.ts';
import { needsProgram } from '../support/programs.ts';

const root = new URL('../../', import.meta.url).pathname;
const read = (path: string) => readFileSync(join(root, path), 'utf8');
let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'watchpost-units-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe.each(['watchpost', 'watchpost-node'])('config/%s.service', (name) => {
  const text = read(`config/${name}.service`);

  test('is a unit that systemd takes, and a hardened one', (context) => {
    needsProgram(context, 'systemd-analyze', 'systemd');
    const unit = join(folder, `${name}.service`);
    writeFileSync(unit, text.replaceAll('/usr/local/bin/watchpost', '/bin/true'));
    const verified = spawnSync('systemd-analyze', ['verify', unit], { encoding: 'utf8' });
    expect({ status: verified.status, stderr: verified.stderr }).toEqual({ status: 0, stderr: '' });
    // 10 is a service that may do everything, below 2 systemd calls it OK.
    const security = ['security', '--offline=true', '--threshold=20', unit];
    expect(spawnSync('systemd-analyze', security, { encoding: 'utf8' }).status).toBe(0);
  });

  test('starts a command that is there, with options that it takes', async () => {
    const [, line = ''] = /^ExecStart=\/usr\/local\/bin\/watchpost (.*)$/m.exec(text) ?? [];
    const [command = '', ...args] = line.split(' ');
    const { out } = await commandHere([command, '--help']);
    for (const flag of args.filter((word) => word.startsWith('--'))) expect(out).toContain(`${flag} <`);
  });
});

describe('config/kubernetes.yaml', () => {
  interface Document {
    readonly kind: string;
    readonly data?: Readonly<Record<string, string>>;
    readonly spec?: { readonly replicas?: number; readonly template?: { readonly spec: Pod } };
  }
  interface Pod {
    readonly containers: readonly Container[];
    readonly volumes: readonly { readonly name: string }[];
  }
  interface Container {
    readonly args: readonly string[];
    readonly livenessProbe: Probe;
    readonly readinessProbe: Probe;
    readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
  }
  interface Probe {
    readonly httpGet: { readonly path: string };
  }
  const documents = parseAllDocuments(read('config/kubernetes.yaml')).map((one) => one.toJS() as Document);
  const config = documents.find(({ kind }) => kind === 'ConfigMap')?.data ?? {};
  const pod = documents.find(({ kind }) => kind === 'StatefulSet')?.spec?.template?.spec;
  const container = pod?.containers[0];

  test('has one replica, whose configuration is good and listens where it is reached', async () => {
    expect(documents.find(({ kind }) => kind === 'StatefulSet')?.spec?.replicas).toBe(1);
    for (const [name, text] of Object.entries(config)) writeFileSync(join(folder, name), text);
    expect(await commandHere(['config', 'check', '--config', folder])).toMatchObject({ code: 0 });
    expect(config['watchpost.yaml']).toContain('listen: 0.0.0.0:8080');
    expect(container?.args).toEqual(['run', '--config', '/config']);
  });

  test('asks for health at paths that are there, and mounts every volume', () => {
    expect(container?.livenessProbe.httpGet.path).toBe('/healthz');
    expect(container?.readinessProbe.httpGet.path).toBe('/readyz');
    const mounted = container?.volumeMounts.map(({ name }) => name) ?? [];
    expect(new Set(mounted)).toEqual(new Set([...(pod?.volumes.map(({ name }) => name) ?? []), 'data']));
  });

  test('a config map that is swapped is noticed as a change, by folder and by file', async () => {
    const version = (name: string, text: string) => {
      mkdirSync(join(folder, name));
      writeFileSync(join(folder, name, 'watchpost.yaml'), text);
      symlinkSync(name, join(folder, '..data.tmp'));
      renameSync(join(folder, '..data.tmp'), join(folder, '..data'));
    };
    version('..2026_01', 'targets: {}');
    symlinkSync('..data/watchpost.yaml', join(folder, 'watchpost.yaml'));
    const prints = async () => [await fingerprintOf(folder), await fingerprintOf(join(folder, 'watchpost.yaml'))];
    const before = await prints();
    expect(await prints()).toEqual(before);
    version('..2026_02', 'targets: {}');
    const after = await prints();
    expect(after[0]).not.toBe(before[0]);
    expect(after[1]).not.toBe(before[1]);
  });
});
