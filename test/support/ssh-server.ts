import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newFolder, type RealServer, startServer } from './database-servers.ts';
import { closedPort } from './tcp-servers.ts';

export interface SshServer extends RealServer {
  /** The fingerprints of its host keys, as `ssh-keygen -l` prints them. */
  readonly fingerprints: Readonly<Record<HostKeyKind, string>>;
  /** The private key that root logs in with, and the file that holds it. */
  readonly key: string;
  readonly keyFile: string;
}

const hostKeyKinds = ['ed25519', 'ecdsa', 'rsa'] as const;
type HostKeyKind = (typeof hostKeyKinds)[number];

/** Makes a key pair in a folder, and gives the file of the private key. */
export function makeKey(folder: string, name: string, kind: HostKeyKind = 'ed25519', passphrase = ''): string {
  const file = join(folder, name);
  execFileSync('ssh-keygen', ['-q', '-t', kind, '-N', passphrase, '-C', '', '-f', file]);
  return file;
}

/** OpenSSH with host keys of these kinds, which lets root in with one key; it takes root. */
export async function startSsh(kinds: readonly HostKeyKind[] = hostKeyKinds): Promise<SshServer> {
  const [folder, port] = [newFolder(), await closedPort()];
  // Where Debian's sshd has its unprivileged child; the package's service makes it.
  mkdirSync('/run/sshd', { recursive: true });
  const hostKeys = kinds.map((kind) => [kind, makeKey(folder, `host_${kind}`, kind)] as const);
  const keyFile = makeKey(folder, 'login');
  const lines = [
    `Port ${port}`,
    'ListenAddress 127.0.0.1',
    ...hostKeys.map(([, file]) => `HostKey ${file}`),
    'PermitRootLogin prohibit-password',
    `AuthorizedKeysFile ${keyFile}.pub`,
    'StrictModes no',
    'UsePAM no',
    `PidFile ${folder}/pid`,
  ];
  writeFileSync(join(folder, 'sshd_config'), `${lines.join('\n')}\n`);
  const server = await startServer({
    folder,
    port,
    command: ['/usr/sbin/sshd', '-D', '-e', '-f', join(folder, 'sshd_config')],
  });
  const fingerprints = Object.fromEntries(
    hostKeys.map(([kind, file]) => [kind, fingerprintOf(`${file}.pub`)]),
  ) as Record<HostKeyKind, string>;
  return { ...server, fingerprints, keyFile, key: readFileSync(keyFile, 'utf8') };
}

function fingerprintOf(file: string): string {
  return execFileSync('ssh-keygen', ['-lf', file], { encoding: 'utf8' }).split(' ')[1] ?? '';
}
