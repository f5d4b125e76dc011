import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { mortal } from './children.ts';
import { closedPort } from './tcp-servers.ts';

/** A real server of Debian's on a port of loopback, with a folder of its own. */
export interface RealServer extends AsyncDisposable {
  readonly port: number;
  readonly host: string;
  readonly folder: string;
  /** Stops it from answering, as a machine that is starved does: connections are still accepted by the kernel. */
  readonly freeze: () => void;
  readonly thaw: () => void;
}

export const password = 'correct horse';

const isRoot = process.getuid?.() === 0;

// PostgreSQL refuses to run as root.
const as = (user: string) => (isRoot ? ['setpriv', `--reuid=${user}`, `--regid=${user}`, '--clear-groups', '--'] : []);

export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'watchpost-server-'));
  chmodSync(folder, 0o777);
  return folder;
}

interface ServerCommand {
  readonly folder: string;
  readonly port: number;
  readonly command: readonly string[];
  readonly environment?: NodeJS.ProcessEnv;
  readonly signal?: NodeJS.Signals;
}

/** Runs a server and waits until it accepts connections. */
export async function startServer({
  folder,
  port,
  command,
  environment,
  signal = 'SIGKILL',
}: ServerCommand): Promise<RealServer> {
  const [program = '', ...rest] = command;
  const child = mortal(
    spawn(program, rest, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, ...environment } }),
  );
  let said = '';
  child.stderr?.on('data', (piece: Buffer) => (said = `${said}${piece.toString()}`.slice(-4_000)));
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      const exit = once(child, 'exit');
      child.kill(signal);
      await exit;
    }
    rmSync(folder, { recursive: true, force: true });
  };
  const end = Date.now() + 150_000;
  while (!(await answers(port))) {
    if (child.exitCode !== null || Date.now() > end) {
      await stop();
      throw new Error(`${program} did not start:\n${said}`);
    }
    await sleep(50);
  }
  return {
    port,
    host: `127.0.0.1:${port}`,
    folder,
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    [Symbol.asyncDispose]: stop,
  };
}

async function answers(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  return new Promise((resolve) => {
    socket.once('connect', () => resolve(true));
    socket.once('error', () => resolve(false));
  }).then((is) => {
    socket.destroy();
    return is === true;
  });
}

export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
}

/** PostgreSQL with the user postgres. */
export async function startPostgres({ cert, key }: TlsFiles): Promise<RealServer> {
  const [folder, port] = [newFolder(), await closedPort()];
  const programs = execFileSync('pg_config', ['--bindir'], { encoding: 'utf8' }).trim();
  const data = join(folder, 'data');
  writeFileSync(join(folder, 'password'), `${password}\n`);
  const [first, ...rest] = [
    ...as('postgres'),
    join(programs, 'initdb'),
    '-D',
    data,
    '-U',
    'postgres',
    '--auth=scram-sha-256',
    `--pwfile=${folder}/password`,
    '--no-sync',
    '--locale=C',
  ];
  execFileSync(first, rest, { stdio: 'ignore', cwd: folder });
  writeFileSync(join(folder, 'tls.crt'), cert);
  writeFileSync(join(folder, 'tls.key'), key);
  if (isRoot) execFileSync('chown', ['postgres', join(folder, 'tls.key')]);
  chmodSync(join(folder, 'tls.key'), 0o600);
  const settings = [
    'listen_addresses=127.0.0.1',
    `port=${port}`,
    `unix_socket_directories=${folder}`,
    'fsync=off',
    'ssl=on',
    `ssl_cert_file=${folder}/tls.crt`,
    `ssl_key_file=${folder}/tls.key`,
  ];
  const options = settings.flatMap((setting) => ['-c', setting]);
  const command = [...as('postgres'), join(programs, 'postgres'), '-D', data, ...options];
  return startServer({ folder, port, command, signal: 'SIGQUIT' });
}

/** MariaDB with the user watcher. */
export async function startMariadb({ cert, key }: TlsFiles): Promise<RealServer> {
  const [folder, port] = [newFolder(), await closedPort()];
  const data = join(folder, 'data');
  mkdirSync(data);
  writeFileSync(join(folder, 'tls.crt'), cert);
  writeFileSync(join(folder, 'tls.key'), key);
  const user = isRoot ? ['--user=root'] : [];
  const install = ['--no-defaults', `--datadir=${data}`, '--auth-root-authentication-method=normal', ...user];
  execFileSync('mariadb-install-db', install, { stdio: 'ignore' });
  writeFileSync(
    join(folder, 'users.sql'),
    `CREATE USER watcher@'127.0.0.1' IDENTIFIED BY '${password}';\nGRANT ALL ON *.* TO watcher@'127.0.0.1';\n`,
  );
  const command = [
    'mariadbd',
    '--no-defaults',
    `--datadir=${data}`,
    `--port=${port}`,
    '--bind-address=127.0.0.1',
    ...user,
    `--socket=${folder}/socket`,
    `--init-file=${folder}/users.sql`,
    `--pid-file=${folder}/pid`,
    '--skip-name-resolve',
    `--ssl-cert=${folder}/tls.crt`,
    `--ssl-key=${folder}/tls.key`,
    `--ssl-ca=${folder}/tls.crt`,
  ];
  return startServer({ folder, port, command });
}

/** Redis with a password for the default user, and TLS on the port behind its own. */
export async function startRedis({ cert, key }: TlsFiles): Promise<RealServer & { readonly tlsPort: number }> {
  const [folder, port, tlsPort] = [newFolder(), await closedPort(), await closedPort()];
  writeFileSync(join(folder, 'tls.crt'), cert);
  writeFileSync(join(folder, 'tls.key'), key);
  const lines = [
    'bind 127.0.0.1',
    `port ${port}`,
    `tls-port ${tlsPort}`,
    `dir ${folder}`,
    'save ""',
    `requirepass "${password}"`,
    `tls-cert-file ${folder}/tls.crt`,
    `tls-key-file ${folder}/tls.key`,
    'tls-auth-clients no',
  ];
  writeFileSync(join(folder, 'redis.conf'), `${lines.join('\n')}\n`);
  const server = await startServer({ folder, port, command: ['redis-server', `${folder}/redis.conf`] });
  return { ...server, tlsPort };
}

/** Mosquitto with the user watcher. */
export async function startMosquitto(): Promise<RealServer> {
  const [folder, port] = [newFolder(), await closedPort()];
  writeFileSync(join(folder, 'users'), `watcher:${password}\n`, { mode: 0o644 });
  execFileSync('mosquitto_passwd', ['-U', join(folder, 'users')], { stdio: 'ignore' });
  chmodSync(join(folder, 'users'), 0o644);
  const lines = [`listener ${port} 127.0.0.1`, 'allow_anonymous false', `password_file ${folder}/users`];
  writeFileSync(join(folder, 'mosquitto.conf'), `${lines.join('\n')}\n`);
  return startServer({ folder, port, command: ['mosquitto', '-c', `${folder}/mosquitto.conf`] });
}

/** A server that speaks MongoDB's protocol, primary of the set rs0, with the users watcher and elder, and 42 orders in shop. */
export async function startMongoProcess(): Promise<RealServer> {
  const [folder, port] = [newFolder(), await closedPort()];
  const child = join(import.meta.dirname, 'mongo-server-child.ts');
  return startServer({ folder, port, command: [process.execPath, '--no-warnings', child, String(port), password] });
}

/** RabbitMQ with the user guest, and everything that it starts in a namespace of processes that ends with it. */
export async function startRabbitmq(): Promise<RealServer> {
  const [folder, port, internal] = [newFolder(), await closedPort(), await closedPort()];
  const environment = {
    HOME: folder,
    RABBITMQ_NODENAME: 'watchpost@localhost',
    RABBITMQ_NODE_IP_ADDRESS: '127.0.0.1',
    RABBITMQ_NODE_PORT: String(port),
    RABBITMQ_DIST_PORT: String(internal),
    RABBITMQ_MNESIA_BASE: join(folder, 'data'),
    RABBITMQ_LOG_BASE: join(folder, 'log'),
    RABBITMQ_ENABLED_PLUGINS_FILE: join(folder, 'plugins'),
    RABBITMQ_CONFIG_FILE: join(folder, 'none'),
    ERL_EPMD_PORT: String(await closedPort()),
    ERL_EPMD_ADDRESS: '127.0.0.1',
  };
  const command = ['unshare', '--pid', '--fork', '--kill-child', '/usr/lib/rabbitmq/bin/rabbitmq-server'];
  return startServer({ folder, port, command, environment });
}
