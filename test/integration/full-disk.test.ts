import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawn } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { startSwitched } from '../crash/switched.ts';
import { eventually } from '../support/program.ts';
import { createSmallDisk, diskObstacle, type SmallDisk } from '../support/small-disk.ts';
import { startSmtp } from '../support/smtp.ts';
import { mortal } from '../support/children.ts';
import { testedProgram } from '../support/tested-program.ts';

const obstacle = diskObstacle();

interface Started extends AsyncDisposable {
  /** Sends SIGTERM and waits for the end. */
  stop(): Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
}

function startOn(disk: SmallDisk, config: string): Started {
  const folder = mkdtempSync(join(tmpdir(), 'watchpost-config-'));
  const path = join(folder, 'watchpost.yaml');
  writeFileSync(path, config);
  const words = [process.execPath, testedProgram, 'run', '--config', path, '--log-level', 'fatal'];
  const [command, ...args] = disk.on(words);
  const child = mortal(spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit'] }));
  const end = async (signal: NodeJS.Signals) => {
    if (child.exitCode === null && child.signalCode === null) {
      const exit = once(child, 'exit');
      child.kill(signal);
      await exit;
    }
    return { code: child.exitCode, signal: child.signalCode };
  };
  return {
    stop: async () => end('SIGTERM'),
    async [Symbol.asyncDispose]() {
      await end('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

describe.skipIf(obstacle !== null)(`a disk that is full${obstacle === null ? '' : ` (${obstacle})`}`, () => {
  test(
    'people are told of what happens meanwhile, once, and the program can be stopped',
    { timeout: 300_000 },
    async () => {
      await using disk = await createSmallDisk('2m');
      await using sink = await startSmtp();
      await using shop = await startSwitched();
      await using started = startOn(disk, configOf(disk, sink.port, shop.port));
      const subjects = () => sink.received.map(({ mail }) => mail.subject ?? '').toSorted();
      const rows = () =>
        disk.query(
          'watchpost.db',
          `SELECT kind, state, message FROM deliveries WHERE incident_id LIKE 'shop/%' ORDER BY deliveries.id`,
        );
      await eventually(30_000, () => expect(disk.query('watchpost.db', 'SELECT 1 FROM results')).not.toEqual([]));

      disk.fill();
      await shop.turn(false);
      await eventually(60_000, () => expect(subjects()).toContainEqual(expect.stringMatching(/^\[DOWN\] shop/)));
      await shop.turn(true);
      await eventually(60_000, () => expect(subjects()).toContainEqual(expect.stringMatching(/^\[RESOLVED\] shop/)));
      const full = expect.stringMatching(/^\[NOT WRITABLE\] Watchpost database: database or disk is full/);
      await eventually(60_000, () => expect(subjects()).toContainEqual(full));
      expect(rows()).toEqual([]);

      disk.free();
      const sent = sink.received.flatMap(({ mail }) => (mail.subject?.includes('shop') === true ? [idOf(mail)] : []));
      await eventually(60_000, () =>
        expect(rows()).toEqual([
          { kind: 'opened', state: 'sent', message: sent[0] },
          { kind: 'resolved', state: 'sent', message: sent[1] },
        ]),
      );
      expect(subjects()).toHaveLength(3);

      disk.fill();
      await shop.turn(false);
      await eventually(60_000, () => expect(sink.received.length).toBeGreaterThan(3));
      expect(await started.stop()).toMatchObject({ code: 1 });
      disk.free();
      expect(disk.query('watchpost.db', 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
    },
  );
});

const idOf = ({ messageId = '' }: { readonly messageId?: string | undefined }) => /^<([^@>]*)@/.exec(messageId)?.[1];

function configOf(disk: SmallDisk, smtpPort: number, port: number): string {
  return `data: ${disk.folder}/watchpost.db
http: { listen: "127.0.0.1:0" }
smtp: { url: "smtp://127.0.0.1:${smtpPort}", from: Watchpost <alerts@example.com> }
defaults: { every: 1s }
rules: { down: { rounds: 1, recover: 1 } }
notify:
  ops: { email: { to: [ops@example.com] }, group_wait: 0s, group_interval: 0s, grouped: false }
targets:
  shop: { check: tcp, host: "127.0.0.1:${port}", timeout: 500ms }
`;
}
