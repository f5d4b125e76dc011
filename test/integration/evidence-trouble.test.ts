import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { EvidenceDocument } from '#checks/index.ts';
import { createMachineClock } from '../support/machine-clock.ts';
import { mortal } from '../support/children.ts';
import { natsObstacle, startNats } from '../support/nats-server.ts';
import { createProgram, eventually, type Program, query, type Running } from '../support/program.ts';
import { startSmtp } from '../support/smtp.ts';
import { startRelay } from '../support/relay.ts';
import { tempFolder } from '../support/store.ts';
import { tcpServer } from '../support/tcp-servers.ts';
import { testedProgram } from '../support/tested-program.ts';

// Each has a world of its own, and waits for the most part.

const root = new URL('../../', import.meta.url).pathname;
const hour = 3_600_000;

/** A server that says its greeting unless it is to be silent. */
async function startGreeter() {
  let isSilent = false;
  let connections = 0;
  const server = await tcpServer((socket) => {
    connections += 1;
    socket.on('error', () => {});
    if (!isSilent) socket.write('220 ready\r\n');
  });
  return {
    port: server.port,
    get connections() {
      return connections;
    },
    silence(on: boolean): void {
      isSilent = on;
    },
    [Symbol.asyncDispose]: async () => server[Symbol.asyncDispose](),
  };
}

const ofShop = "FROM incidents WHERE target_id = (SELECT id FROM targets WHERE name = 'shop')";

interface IncidentEvidence {
  readonly id: string;
  readonly evidence: readonly {
    readonly occasion: string;
    readonly conclusions: readonly { readonly text: string }[];
    readonly nodes: readonly { readonly node: string; readonly document: unknown; readonly note: string | null }[];
  }[];
}

async function incidentsOf(program: Program, { url }: Running): Promise<readonly IncidentEvidence[]> {
  return Promise.all(
    query(program.database, `SELECT id ${ofShop} ORDER BY incidents.rowid`).map(async ({ id }) => {
      const answer = await fetch(`${url}/api/v1/incidents/${String(id)}`);
      return ((await answer.json()) as { incident: IncidentEvidence }).incident;
    }),
  );
}

const silence = 'The server accepts the connection and sends nothing.';

test.concurrent(
  'while the clock is set ahead evidence is of its own incident, and in its mail',
  { timeout: 200_000 },
  async () => {
    using folder = tempFolder();
    const clock = createMachineClock(folder.path);
    await using greeter = await startGreeter();
    await using smtp = await startSmtp();
    await using program = await createProgram({ environment: clock.environment });
    const running = await program.start(`
data: watchpost.db
http: { listen: 127.0.0.1:0 }
smtp: { url: "smtp://127.0.0.1:${smtp.port}", from: alerts@example.com }
nodes: { de1: {}, fr1: {} }
defaults: { every: 2s }
rules: { down: { rounds: 1, recover: 1 } }
targets: { shop: { check: tcp, host: "127.0.0.1:${greeter.port}", expect: "220", timeout: 900ms } }
notify: { ops: { email: { to: [ops@example.com] }, group_wait: 15s, group_interval: 1s } }
`);
    const ups = "history WHERE target = 'shop' AND status = 'up'";
    const count = (from: string) => Number(query(program.database, `SELECT count(*) AS n FROM ${from}`)[0]?.['n']);
    await eventually(60_000, () => expect(count(ups)).toBeGreaterThan(2));
    for (const [number, [ms, words]] of (
      [
        [hour, 'forward'],
        [0, 'back'],
      ] as const
    ).entries()) {
      clock.set(ms);
      await running.logged(new RegExp(`^clock was set ${words}`));
      greeter.silence(true);
      const isDown = ({ mail }: { mail: { subject?: string | undefined } }) =>
        mail.subject?.includes('shop') === true && !mail.subject.includes('RESOLVED');
      await eventually(60_000, () => expect(smtp.received.filter(isDown)).toHaveLength(number + 1));
      const incidents = await eventually(30_000, async () => {
        const found = await incidentsOf(program, running);
        expect(found.map(({ evidence }) => evidence.map(({ occasion }) => occasion))).toEqual(
          Array.from({ length: number + 1 }, () => ['opened']),
        );
        expect(found[number]?.evidence[0]?.nodes.map(({ node }) => node).toSorted()).toEqual(['de1', 'fr1']);
        return found;
      });
      const [conclusion] = incidents[number]?.evidence[0]?.conclusions ?? [];
      expect(conclusion?.text).toBe(silence);
      expect(smtp.received.findLast(isDown)?.mail.text).toContain(conclusion?.text);
      greeter.silence(false);
      await eventually(60_000, () =>
        expect(query(program.database, `SELECT id ${ofShop} AND ended_at IS NULL`)).toEqual([]),
      );
    }
    expect(running.log.filter(({ msg }) => msg === 'cannot gather evidence')).toEqual([]);
  },
);

const obstacle = natsObstacle();

test.skipIf(obstacle !== null).concurrent.each(['is stopped', 'swallows everything'])(
  `a remote node whose NATS %s while it gathers delays nothing, and what it has in the end is of no other outage${obstacle === null ? '' : ` (${obstacle})`}`,
  { timeout: 240_000 },
  async (trouble) => {
    await using stack = new AsyncDisposableStack();
    const nats = stack.use(await startNats({ nodes: ['us1'] }));
    const relay = stack.use(await startRelay(nats.port));
    const greeter = stack.use(await startGreeter());
    const smtp = stack.use(await startSmtp());
    const program = stack.use(await createProgram());
    const keys = nats.nodes.get('us1');
    mkdirSync(join(program.folder, 'nodes'));
    writeFileSync(join(program.folder, 'hub.nk'), nats.hub.seed.reveal(), { mode: 0o600 });
    const enrolled = { us1: { key: keys?.key, enrolled_at: '2026-01-01T00:00:00Z' } };
    writeFileSync(join(program.folder, 'nodes/nodes.json'), JSON.stringify({ nodes: enrolled }));
    const seedFile = join(program.folder, 'us1.nk');
    writeFileSync(seedFile, keys?.seed.reveal() ?? '', { mode: 0o600 });
    const servers = ['--name', 'us1', '--servers', `nats://127.0.0.1:${relay.port}`, '--seed-file', seedFile];
    const spool = ['--allow-private', '--spool-file', join(program.folder, 'us1.db')];
    const node: ChildProcess = mortal(
      spawn(process.execPath, [testedProgram, 'node', ...servers, ...spool], { cwd: root, stdio: 'ignore' }),
    );
    stack.defer(async () => {
      node.kill('SIGKILL');
      if (node.exitCode === null && node.signalCode === null) await once(node, 'exit');
    });
    const running = await program.start(`
data: watchpost.db
http: { listen: 127.0.0.1:0 }
smtp: { url: "smtp://127.0.0.1:${smtp.port}", from: alerts@example.com }
nats: { servers: ["${nats.url}"] }
nodes: { de1: {} }
defaults: { every: 5s }
evidence: { last_good: false }
rules: { down: { failing: any, rounds: 1, recover: 1 } }
targets: { shop: { check: tcp, host: "127.0.0.1:${greeter.port}", expect: "220", timeout: 4s } }
notify: { ops: { email: { to: [ops@example.com] }, group_wait: 0s, group_interval: 1s } }
`);
    const nodesUp = "SELECT DISTINCT node FROM history WHERE target = 'shop' AND status = 'up' ORDER BY node";
    await eventually(90_000, () =>
      expect(query(program.database, nodesUp)).toEqual([{ node: 'de1' }, { node: 'us1' }]),
    );
    greeter.silence(true);
    const before = await eventually(60_000, () => {
      expect(query(program.database, `SELECT id ${ofShop}`)).toHaveLength(1);
      return greeter.connections;
    });
    // Each node connects to trace the path, and to listen for as long as the check does.
    await eventually(30_000, () => expect(greeter.connections).toBeGreaterThan(before + 4));
    if (trouble === 'is stopped') await nats.stop();
    else relay.swallow();
    await eventually(30_000, () =>
      expect(smtp.received.map(({ mail }) => mail.subject)).toContainEqual(expect.stringContaining('shop')),
    );
    const gathered = await eventually(60_000, async () => {
      const [incident] = await incidentsOf(program, running);
      expect(incident?.evidence).toMatchObject([{ occasion: 'opened' }]);
      return incident?.evidence[0]?.nodes ?? [];
    });
    const documents = Object.fromEntries(gathered.map((one) => [one.node, one.document]));
    expect(EvidenceDocument.safeParse(documents['de1'])).toMatchObject({ success: true });
    expect(documents['us1']).toBeNull();
    expect(running.log).toContainEqual(expect.objectContaining({ msg: 'cannot gather evidence', target: 'shop' }));

    greeter.silence(false);
    await eventually(60_000, () =>
      expect(query(program.database, `SELECT id ${ofShop} AND ended_at IS NULL`)).toEqual([]),
    );
    if (trouble === 'is stopped') await nats.start();
    else relay.mend();
    const dropped = await running.logged(/^dropped late results/);
    expect(dropped).toMatchObject({ node: 'us1', type: 'evidence' });

    greeter.silence(true);
    const incidents = await eventually(90_000, async () => {
      const all = await incidentsOf(program, running);
      expect(all.at(-1)?.evidence).toMatchObject([{ occasion: 'opened' }]);
      expect(all.length).toBeGreaterThan(1);
      return all;
    });
    expect(incidents[0]?.evidence).toHaveLength(1);
    expect(incidents[0]?.evidence[0]?.nodes).toEqual(gathered);
    const last = incidents.at(-1)?.evidence[0]?.nodes ?? [];
    for (const { document } of last) expect(EvidenceDocument.safeParse(document)).toMatchObject({ success: true });
  },
);
