import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { TargetDetail } from '#web/history-shapes.ts';
import { commandHere } from '../support/command.ts';
import { mortal } from '../support/children.ts';
import { natsObstacle } from '../support/nats-server.ts';
import { eventually } from '../support/program.ts';
import { closedPort } from '../support/tcp-servers.ts';
import { testedProgram } from '../support/tested-program.ts';

// The hub, a node of its own and one in a process beside it run plugins; the hub's mails are files.

const TargetDocument = z.looseObject({ target: TargetDetail });
const obstacle = natsObstacle();

test.skipIf(obstacle !== null)(
  `plugins run on the hub's nodes and on others, with mails, metrics and warnings${obstacle === null ? '' : ` (${obstacle})`}`,
  async () => {
    await using stack = new AsyncDisposableStack();
    const folder = mkdtempSync(join(tmpdir(), 'watchpost-plugins-'));
    stack.defer(() => rmSync(folder, { recursive: true, force: true }));
    const file = (name: string) => join(folder, name);
    const cli = async (...args: readonly string[]) => {
      const ended = await commandHere(args);
      expect(ended).toMatchObject({ code: 0 });
      return ended;
    };
    const start = (command: string, args: readonly string[]): ChildProcess => {
      const child: ChildProcess = mortal(spawn(command, args, { stdio: 'ignore' }));
      stack.defer(async () => {
        if (child.exitCode !== null || child.signalCode !== null) return;
        child.kill('SIGKILL');
        await once(child, 'exit');
      });
      return child;
    };
    const [port, httpPort] = [await closedPort(), await closedPort()];
    writeFileSync(
      file('state.sh'),
      '#!/bin/sh\necho "LOAD $1 - far away | load=${2}ms;5;10"\ncase $1 in OK) exit 0;; WARNING) exit 1;; esac\nexit 2\n',
      { mode: 0o755 },
    );
    writeFileSync(
      file('nats.conf'),
      `listen: "127.0.0.1:${port}"\npid_file: "${file('nats.pid')}"\nauthorization { include "nodes/nodes.conf" }\n`,
    );
    const config = ['--config', file('watchpost.yaml')];
    writeFileSync(
      file('watchpost.yaml'),
      `
data: watchpost.db
http: { listen: "127.0.0.1:${httpPort}" }
nodes: { zz1: {} }
plugins: { load: [${file('state.sh')}, OK, "{load}"] }
nats: { servers: ["nats://127.0.0.1:${port}"] }
defaults: { every: 2s }
rules:
  busy: { value: { label: load, range: "~:3" } }
  warned: { warning: any }
notify: { ops: { email: { to: [ops@example.com] }, group_wait: 1s, group_interval: 1s, severities: [critical, warning, info] } }
targets:
  here: { check: plugin, host: 127.0.0.1, plugin: load, values: { load: "4" }, nodes: [zz1], rules: [down, busy] }
  there: { check: plugin, host: 127.0.0.1, plugin: far, nodes: [us1], rules: [down] }
  elsewhere: { check: plugin, host: 127.0.0.1, plugin: near, values: { load: "1" }, nodes: [us1], rules: [down, warned] }
  one: { check: tcp, host: "127.0.0.1:${httpPort}" }
  two: { check: tcp, host: "127.0.0.1:${httpPort}" }
  three: { check: tcp, host: "127.0.0.1:${port}" }
  four: { check: tcp, host: "127.0.0.1:${port}" }
  journey:
    check: flow
    host: "http://127.0.0.1:${httpPort}"
    nodes: [us1]
    rules: [down]
    steps: [{ name: live, url: /healthz, capture: { all: { regex: "(?s)(.*)" } } }, { name: again, url: /healthz }]
  box: { check: docker, host: shop-db, nodes: [us1], rules: [down] }
  unit: { check: systemd, host: shop.service, nodes: [us1], rules: [down] }
  nowhere: { check: plugin, host: 127.0.0.1, plugin: far, nodes: [zz1] }
`,
    );
    await cli('nodes', 'init', ...config);
    const { out } = await cli('nodes', 'add', 'us1', ...config);
    expect((await cli('config', 'check', ...config)).err).toContain(
      'nowhere needs the plugin "far", which plugins does not offer: zz1 cannot check it',
    );
    writeFileSync(
      file('us1.yaml'),
      `name: us1\nservers: ["nats://127.0.0.1:${port}"]\nspool_file: us1.db\nallow_private: true\n` +
        `docker_socket: engine.sock\nsystemd_socket: no-bus.sock\n` +
        `seed: ${/SU[A-Z2-7]{56}/.exec(out)?.[0] ?? ''}\n` +
        `plugins:\n  far: [${file('state.sh')}, CRITICAL, "7"]\n  near: [${file('state.sh')}, WARNING, "{load}"]\n`,
    );
    const engine = createServer((_request, response) =>
      response.end('{"State":{"Status":"exited","Running":false,"ExitCode":7}}'),
    );
    stack.defer(() => void engine.close());
    engine.listen(file('engine.sock'));
    const nats = start('nats-server', ['--config', file('nats.conf')]);
    start(process.execPath, [testedProgram, 'run', ...config]);
    start(process.execPath, [testedProgram, 'node', '--config', file('us1.yaml')]);

    const mails = () => globSync('mail/*.eml', { cwd: folder }).map((name) => readFileSync(file(name), 'utf8'));
    // Incidents that open together are one mail.
    const mailed = async (text: string) =>
      eventually(60_000, () => {
        const bodies = mails().map((mail) => mail.replaceAll(/=\r?\n/g, ''));
        expect(bodies.filter((body) => body.includes(text)).length, bodies.join('\n')).toBeGreaterThan(0);
      });
    await mailed('LOAD CRITICAL - far away');
    await mailed('LOAD WARNING - far away');
    await mailed('load is 4ms');
    await mailed('container shop-db is exited, exit code 7');
    const metrics = await (await fetch(`http://127.0.0.1:${httpPort}/metrics`)).text();
    expect(metrics).toContain('watchpost_plugin_value{target="here",node="zz1",label="load",unit="ms"} 4');
    expect(metrics).toContain('watchpost_plugin_value{target="there",node="us1",label="load",unit="ms"} 7');
    expect(metrics).toContain('watchpost_plugin_state{target="elsewhere",node="us1"} 1');
    expect(metrics).toMatch(
      /watchpost_check_results_total\{target="nowhere".*outcome="unknown",reason="unsupported"\} [1-9]/,
    );
    // It has a socket, where nothing is.
    expect(metrics).toMatch(/watchpost_check_results_total\{target="unit".*outcome="unknown",reason="local"\} [1-9]/);
    await eventually(30_000, async () => {
      const page = await (await fetch(`http://127.0.0.1:${httpPort}/targets/elsewhere`)).text();
      expect(page).toMatch(/<bdi>load<\/bdi><\/th><td[^>]*>us1<\/td><td[^>]*>1ms .*warning 5, critical 10/);
    });
    expect((await cli('nodes', 'list', ...config)).out).toMatch(/^us1 .* far near$/m);
    const asked = await fetch(`http://127.0.0.1:${httpPort}/api/v1/checks`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ type: 'plugin', host: '127.0.0.1', options: { plugin: 'load' } }),
    });
    expect(asked.status).toBeGreaterThanOrEqual(400);

    // Without NATS the node goes on; what it saw comes when NATS is back.
    nats.kill('SIGKILL');
    await once(nats, 'exit');
    const metricsNow = async () => (await fetch(`http://127.0.0.1:${httpPort}/metrics`)).text();
    await eventually(60_000, async () => expect(await metricsNow()).toContain('watchpost_node_up{node="us1"} 0'));
    const [from, stateScript] = [Date.now(), readFileSync(file('state.sh'), 'utf8')];
    writeFileSync(file('state.sh'), stateScript.replace('load=${2}ms', 'load=9ms'));
    const seen = async (target: string) => {
      const {
        target: { rounds },
      } = TargetDocument.parse(await (await fetch(`http://127.0.0.1:${httpPort}/api/v1/targets/${target}`)).json());
      return rounds.flatMap(({ due_at: at, votes }) => votes.map(({ status }) => ({ at: Date.parse(at), status })));
    };
    // The hub's own target shows that two rounds have passed.
    await eventually(60_000, async () =>
      expect((await seen('here')).filter(({ at }) => at > from).length).toBeGreaterThanOrEqual(2),
    );
    const back = Date.now();
    start('nats-server', ['--config', file('nats.conf')]);
    await eventually(90_000, async () => {
      for (const target of ['elsewhere', 'journey']) {
        const retained = (await seen(target)).filter(({ at, status }) => at > from && at < back && status === 'up');
        expect(retained.length, target).toBeGreaterThan(0);
      }
      expect(await metricsNow()).toContain(
        'watchpost_plugin_value{target="elsewhere",node="us1",label="load",unit="ms"} 9',
      );
    });
    expect(mails().filter((mail) => mail.includes('[DOWN] journey'))).toEqual([]);
  },
  300_000,
);
