import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NatsConnection } from '@nats-io/transport-node';
import { expect, test } from 'vitest';
import { logSubject } from '#hubs/session.ts';
import { inboxOf, sharedSubjects, subjectsOf } from '#protocol/nodes.ts';
import { connectionTimes, dial } from '#transport/nats/connection.ts';
import { makeKeyPair, parseSeed } from '#transport/nats/keys.ts';
import { permissionsFile } from '#transport/nats/permissions.ts';
import { commandHere } from '../../support/command.ts';
import { roundsOf, startFleet } from '../../support/fleet.ts';
import { type NatsServer, natsObstacle, startNats } from '../../support/nats-server.ts';
import { eventually } from '../../support/program.ts';

const obstacle = natsObstacle();
const named = (name: string) => `${name}${obstacle === null ? '' : ` (${obstacle})`}`;

/** Signs in with the key of a file. */
const signIn = async ({ url }: NatsServer, file: string, name: string): Promise<NatsConnection> =>
  dial(
    { servers: [url], seed: parseSeed(readFileSync(file, 'utf8').trim()), ca: null, name, inbox: inboxOf(name) },
    connectionTimes,
  );

/** The subjects of these that the server does not let a connection publish to. */
async function refused(connection: NatsConnection, subjects: readonly string[]): Promise<readonly string[]> {
  const found: string[] = [];
  const reading = (async () => {
    for await (const status of connection.status())
      if (status.type === 'error') found.push(/Publish to "([^"]+)"/.exec(String(status.error))?.[1] ?? '?');
  })();
  for (const subject of subjects) connection.publish(subject, '{}');
  await connection.flush();
  await sleep(300);
  await connection.close();
  await reading;
  return found.toSorted();
}

test.skipIf(obstacle !== null).concurrent(
  named('each key of the list can say what its holder says and nothing else, and one that is revoked is refused'),
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'watchpost-keys-'));
    await using stack = new AsyncDisposableStack();
    stack.defer(() => rmSync(folder, { recursive: true, force: true }));
    const file = (name: string) => join(folder, name);
    writeFileSync(
      file('watchpost.yaml'),
      'nats: { servers: ["nats://127.0.0.1:4222"] }\ntargets: { a: { check: ping, host: a } }\n',
    );
    const nodes = async (...args: readonly string[]) => {
      const { code, err } = await commandHere(['nodes', ...args, '--config', file('watchpost.yaml')]);
      expect({ args, code, err }).toEqual({ args, code: 0, err: '' });
    };
    await nodes('init');
    for (const hub of ['a', 'b']) await nodes('init', '--hub', hub);
    await nodes('add', 'us1', '--write-seed', file('us1.nk'));
    const nats = stack.use(await startNats());
    await nats.stop();
    const use = () => copyFileSync(file('nodes/nodes.conf'), join(nats.folder, 'users.conf'));
    use();
    await nats.start();

    const [us1, us2] = [subjectsOf('us1'), subjectsOf('us2')];
    const ofNode = [us1.report, us1.result, us1.resultFor('a')];
    const ofHub = [
      sharedSubjects.hub,
      sharedSubjects.status,
      us1.command('p'),
      us1.abort,
      `${us1.inbox}.p`,
      `${us2.inbox}.p`,
      'wp.v1.hubs.status',
      'wp.v1.hubs.late.a',
      logSubject,
      '$KV.WP_HUBS.lease',
    ];
    const ofOtherNode = [us2.report, us2.result, us2.resultFor('a')];
    const ofNeither = ['$JS.API.STREAM.DELETE.OTHER', 'elsewhere'];
    for (const key of ['hub', 'hub-a', 'hub-b']) {
      const denied = await refused(await signIn(nats, file(`${key}.nk`), 'hub'), [...ofHub, ...ofNode, ...ofNeither]);
      expect({ key, denied }).toEqual({ key, denied: [...ofNode, ...ofNeither].toSorted() });
    }
    const denied = await refused(await signIn(nats, file('us1.nk'), 'us1'), [...ofNode, ...ofHub, ...ofOtherNode]);
    expect(denied).toEqual([...ofHub, ...ofOtherNode].toSorted());

    const b = await signIn(nats, file('hub-b.nk'), 'hub');
    const a = await signIn(nats, file('hub-a.nk'), 'hub');
    await nodes('revoke', '--hub', 'b');
    use();
    nats.signal('SIGHUP');
    await b.closed();
    await expect(signIn(nats, file('hub-b.nk'), 'hub')).rejects.toThrow(/authorization violation/i);
    await a.flush();
    await a.close();
    for (const key of ['hub', 'hub-a']) await (await signIn(nats, file(`${key}.nk`), 'hub')).close();
  },
  60_000,
);

test.skipIf(obstacle !== null).concurrent(
  named('hubs with keys of their own share a history; one whose key is revoked is out, and the other goes on'),
  async () => {
    await using fleet = await startFleet();
    const [a, b] = [fleet.hub('a'), fleet.hub('b')];
    const keys = { a: makeKeyPair(), b: makeKeyPair() };
    for (const hub of [a, b]) {
      rmSync(join(hub.program.folder, 'hub.nk'));
      const { seed } = hub === a ? keys.a : keys.b;
      writeFileSync(join(hub.program.folder, `hub-${hub.name}.nk`), seed.reveal(), { mode: 0o600 });
    }
    const allow = (...hubs: readonly (keyof typeof keys)[]) => {
      const holders = [...fleet.nats.nodes].map(([name, { key }]) => ({ name, key }));
      const own = hubs.map((name) => ({ name, key: keys[name].key }));
      const text = permissionsFile([{ name: null, key: fleet.nats.hub.key }, ...own], holders);
      writeFileSync(join(fleet.nats.folder, 'users.conf'), text);
      fleet.nats.signal('SIGHUP');
    };
    allow('a', 'b');
    await a.start();
    await fleet.leader();
    await b.start();
    await eventually(30_000, () => expect(roundsOf(b).length).toBeGreaterThan(3));

    allow('a');
    const told = await eventually(30_000, () => {
      const line = b.running?.log.find(({ reason }) => String(reason).includes('refuses this key'));
      if (line === undefined) throw new Error('the key is not refused');
      return line;
    });
    expect(told.msg).toMatch(/not connected to NATS/);
    const then = roundsOf(a).length;
    await eventually(30_000, () => expect(roundsOf(a).length).toBeGreaterThan(then + 15));
    expect((await fleet.statuses()).map(({ name, role }) => [name, role])).toEqual([['a', 'leader']]);
    expect(fleet.smtp.received).toEqual([]);
  },
  120_000,
);
