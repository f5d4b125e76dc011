import { createServer } from 'node:http';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { checkOf, CheckSpec, type Outcome } from '#checks/index.ts';
import { systemClock as clock } from '#kernel/clock.ts';
import { systemRandom as random } from '#kernel/random.ts';
import { loopbackGate } from '../../support/http-check.ts';
import { needsPodman, startPodman } from '../../support/podman.ts';
import { startProber } from '../../support/probe-once.ts';

const type = checkOf('docker');

async function ask(dockerSocket: string | undefined, host: string, more: object = {}): Promise<Outcome> {
  const prober = await startProber('docker', { clock, random, localAddress: {}, dockerSocket });
  try {
    const spec = CheckSpec.parse({ type: 'docker', host, timeout: '5s', ...more });
    return type.Outcome.parse(await prober.probe(spec, { gate: loopbackGate(), signal: new AbortController().signal }));
  } finally {
    await prober.close();
  }
}

test('state and health of containers, asked of Podman over the API of Docker', async (context) => {
  needsPodman(context);
  await using podman = await startPodman();
  const { socket, run, command } = podman;
  const about = async (name: string, more: object = {}) => ask(socket, name, more);
  await run('plain');
  expect(await about('plain')).toMatchObject({
    status: 'up',
    seconds: expect.any(Number),
    phases: { query: expect.any(Number) },
    detail: { state: 'running', health: null, exit: null, restarts: 0, image: expect.stringContaining('busybox') },
  });
  expect(await about('plain', { expect: { health: 'healthy' } })).toMatchObject({
    status: 'down',
    failure: { source: 'target', code: 'status', message: 'container plain has no health check' },
  });
  expect(await about('other')).toMatchObject({
    status: 'down',
    failure: { source: 'target', code: 'status', message: 'there is no container other' },
  });

  await command('pause', 'plain');
  expect(await about('plain')).toMatchObject({ failure: { message: 'container plain is paused' } });
  expect(await about('plain', { expect: { state: ['running', 'paused'] } })).toMatchObject({ status: 'up' });
  await command('unpause', 'plain');

  await run('ended', [], ['sh', '-c', 'exit 3']);
  await expect
    .poll(async () => about('ended'), { timeout: 20_000 })
    .toMatchObject({
      status: 'down',
      failure: { message: 'container ended is exited, exit code 3' },
      detail: { exit: 3 },
    });
  expect(await about('ended', { expect: { state: 'exited' } })).toMatchObject({ status: 'up' });

  const health = ['--health-cmd', 'test -e /ok', '--health-interval', 'disable', '--health-retries', '1'];
  await run('checked', health);
  expect(await about('checked')).toMatchObject({ status: 'up', detail: { health: 'starting' } });
  expect(await about('checked', { expect: { health: 'healthy' } })).toMatchObject({
    status: 'down',
    failure: { message: 'container checked is not healthy yet: starting' },
  });
  await expect(command('healthcheck', 'run', 'checked')).rejects.toThrow();
  expect(await about('checked')).toMatchObject({
    status: 'down',
    failure: { message: expect.stringMatching(/^container checked is unhealthy/) },
    detail: { state: 'running', health: 'unhealthy' },
  });
  await command('exec', 'checked', 'touch', '/ok');
  await command('healthcheck', 'run', 'checked');
  expect(await about('checked', { expect: { health: 'healthy' } })).toMatchObject({ status: 'up' });

  podman.freeze();
  expect(await about('plain', { timeout: '500ms' })).toMatchObject({
    status: 'unknown',
    failure: { source: 'third_party', code: 'timeout', message: 'the engine did not answer within 500ms' },
  });
  podman.thaw();
  expect(await about('plain')).toMatchObject({ status: 'up' });
  await podman.end();
  expect(await about('plain')).toMatchObject({
    status: 'unknown',
    failure: { source: 'third_party', code: 'no_answer', message: expect.stringContaining('does not run') },
  });
}, 120_000);

describe('an engine that is none', () => {
  test('no setting, and no socket', async () => {
    expect(await ask(undefined, 'a')).toMatchObject({
      status: 'unknown',
      failure: { source: 'node', code: 'unsupported', message: expect.stringContaining('docker_socket') },
    });
    expect(await ask('/nonexistent/engine.sock', 'a')).toMatchObject({
      status: 'unknown',
      failure: { source: 'node', code: 'local', message: 'there is no /nonexistent/engine.sock' },
    });
  });

  test.each([
    ['text', 'hello', 'protocol'],
    ['JSON of another kind', '{"State":"up"}', 'protocol'],
    ['more than is read', 'x'.repeat(9 * 1_048_576), 'no_answer'],
  ])('%s', async (_, answer, code) => {
    const folder = mkdtempSync(join(tmpdir(), 'watchpost-engine-'));
    const server = createServer((_request, response) => response.end(answer));
    try {
      const socket = join(folder, 'engine.sock');
      server.listen(socket);
      await once(server, 'listening');
      expect(await ask(socket, 'a')).toMatchObject({ status: 'unknown', failure: { source: 'third_party', code } });
    } finally {
      server.closeAllConnections();
      server.close();
      rmSync(folder, { recursive: true, force: true });
    }
  });

  test.each(['../json', 'a/b', '', '-a'])('%o is no name of a container', (host) => {
    expect(() => CheckSpec.parse({ type: 'docker', host })).toThrow('expected the name of a container');
  });
});
