import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { expect, test } from 'vitest';
import { mailsIn } from '../support/mail-files.ts';
import { createProgram, eventually, query } from '../support/program.ts';

// The whole program, with targets on hosts of their own that are there or not.

async function listenOn(host: string, given = 0): Promise<{ readonly port: number; close(): Promise<void> }> {
  const server: Server = createServer((socket) => socket.on('error', () => {}).end());
  server.listen(given, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { port, close: async () => new Promise((resolve) => void server.close(() => resolve())) };
}

const names = Array.from({ length: 13 }, (_, index) => `t${index}`);

test(
  'twelve of thirteen targets fail: they are DOWN at once; if all do, they are after the limit, with the doubt',
  { timeout: 240_000 },
  async () => {
    await using program = await createProgram();
    const servers = await Promise.all(names.map(async (_, index) => listenOn(`127.0.1.${index + 1}`)));
    const targets = names.map(
      (name, index) => `  ${name}: { check: tcp, host: "127.0.1.${index + 1}:${servers[index]?.port}" }`,
    );
    const running = await program.start(`data: ${program.database}
http: { listen: "127.0.0.1:0" }
defaults: { every: 2s, doubt_limit: 1m }
notify: { ops: { email: { to: [ops@example.com] }, group_wait: 1s, group_interval: 1s } }
targets:
${targets.join('\n')}
`);
    const subjects = async () => (await mailsIn(program.folder)).map(({ subject = '' }) => subject);
    const opened = () =>
      query(
        program.database,
        `SELECT DISTINCT targets.name AS name FROM deliveries JOIN incidents ON incidents.id = incident_id
      JOIN targets ON targets.id = target_id WHERE kind = 'opened' AND state IN ('sent', 'merged')`,
      ).map(({ name }) => String(name));
    await eventually(60_000, () => {
      const [row] = query(program.database, 'SELECT count(DISTINCT target_id) AS n FROM results WHERE status = 0');
      if (row?.['n'] !== names.length) throw new Error('not everything was seen up');
    });
    const [last, ...others] = servers.toReversed();
    await Promise.all(others.map(async (server) => server.close()));
    await eventually(60_000, () => {
      if (opened().length < 12) throw new Error(`only ${opened().join(', ')} were notified`);
    });
    expect(opened().toSorted()).toEqual(names.slice(0, 12).toSorted());
    expect((await subjects()).filter((subject) => subject.includes('network connectivity'))).toEqual([]);
    const again = await Promise.all(
      names.slice(0, 12).map(async (_, index) => listenOn(`127.0.1.${index + 1}`, servers[index]?.port)),
    );
    await eventually(60_000, () => {
      const [row] = query(program.database, 'SELECT count(*) AS n FROM incidents WHERE ended_at IS NULL');
      if (row?.['n'] !== 0) throw new Error('not everything is over');
    });
    await Promise.all([...again, last].map(async (server) => server?.close()));
    await eventually(150_000, async () => {
      const found = (await subjects()).filter((subject) =>
        subject.includes('13 targets are down, or this Watchpost is cut off'),
      );
      if (found.length === 0) throw new Error((await subjects()).join('\n'));
    });
    expect((await subjects()).filter((subject) => subject.startsWith('[OFFLINE] network connectivity'))).toHaveLength(
      1,
    );
    const metrics = await (await fetch(`${running.url}/metrics`)).text();
    expect(metrics).toContain('\nwatchpost_unreported_incidents 0\n');
    await running.end('SIGTERM');
  },
);
