import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commandHere } from '../support/command.ts';
import { createProgram, eventually } from '../support/program.ts';
import { needsSystemd, startSystemd } from '../support/systemd.ts';

test('the daemon watches units, and a frozen systemd is not a fault of theirs', async (context) => {
  needsSystemd(context);
  await using systemd = await startSystemd();
  await systemd.unit('shop.service', '[Service]', 'ExecStart=sleep 600');
  await systemd.systemctl('start', 'shop.service');
  await using program = await createProgram();
  const { url } = await program.start(`
data: watchpost.db
http: { listen: 127.0.0.1:0 }
systemd_socket: ${systemd.socket}
defaults: { every: 1s, notify: [ops] }
notify: { ops: { email: { to: [ops@example.com] }, group_wait: 0s, group_interval: 0s } }
targets: { shop: { check: systemd, host: shop.service, timeout: 1s } }
`);
  const mails = () =>
    globSync('mail/*.eml', { cwd: program.folder })
      .toSorted()
      .map((name) => readFileSync(join(program.folder, name), 'utf8').replaceAll(/=\r?\n/g, ''));
  const shows = async (pattern: RegExp) =>
    eventually(60_000, async () => expect(await (await fetch(`${url}/metrics`)).text()).toMatch(pattern));
  await shows(/^watchpost_up\{target="shop",.*\} 1$/m);
  systemd.signal('SIGSTOP');
  await shows(/^watchpost_check_results_total\{target="shop",.*outcome="unknown",reason="timeout"\} [1-9]/m);
  systemd.signal('SIGCONT');
  await shows(/^watchpost_up\{target="shop",.*\} 1$/m);
  expect(mails()).toEqual([]);
  await systemd.systemctl('kill', '--signal=SIGSEGV', 'shop.service');
  await eventually(60_000, () => expect(mails()).toHaveLength(1));
  expect(mails()[0]).toMatch(/unit shop\.service is failed: (crashed with|killed by) signal 11/);
  expect(await (await fetch(`${url}/targets/shop`)).text()).toContain('unit shop.service is failed');
  await systemd.systemctl('start', 'shop.service');
  await eventually(60_000, () => expect(mails()).toHaveLength(2));
}, 180_000);

test('config check names the nodes that cannot ask systemd', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'watchpost-systemd-'));
  try {
    const file = join(folder, 'watchpost.yaml');
    writeFileSync(file, 'data: watchpost.db\ntargets: { shop: { check: systemd, host: shop.service } }\n');
    const { code, err } = await commandHere(['config', 'check', '--config', file]);
    expect([code, err]).toEqual([0, expect.stringContaining('shop needs systemd_socket, which is not set: zz1')]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
