import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { chownSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { parse } from 'yaml';
import { createNetworkNamespace, type NetworkNamespace } from './network-namespace.ts';
import { mortal } from './children.ts';
import { testedHouse } from './tested-program.ts';

const root = new URL('../../', import.meta.url).pathname;

interface Service {
  readonly build?: string;
  readonly image?: string;
  readonly command?: readonly string[];
  readonly depends_on?: readonly string[];
  readonly ports?: readonly string[];
  readonly read_only?: boolean;
  readonly profiles?: readonly string[];
  readonly tmpfs?: readonly string[];
  readonly volumes?: readonly string[];
  readonly sysctls?: Readonly<Record<string, string>>;
  readonly configs?: readonly { readonly source: string; readonly target: string }[];
  readonly environment?: Readonly<Record<string, string>>;
}

/** What stands in for an image: the program with its fixed arguments, and the user. */
export interface StandIn {
  readonly entry: readonly string[];
  readonly command?: readonly string[];
  readonly user: number;
  /** Where it runs; the root where it does not say. */
  readonly folder?: string;
}

interface ComposeFile {
  readonly services: Readonly<Record<string, Service>>;
  readonly configs?: Readonly<Record<string, { readonly content: string }>>;
}

/**
 * A compose file without an engine: each service is a process in namespaces of its own, with the networks, files, users,
 * arguments, kernel settings and read-only roots that the file says. Pulling images is the only thing that is not tried.
 */
export interface Composition extends AsyncDisposable {
  /** The folder of the project, with a copy of `config`. */
  readonly project: string;
  /** The commands in the comments at the top of the file, for people to run once. */
  readonly setUp: readonly string[];
  /** Runs a command of `setUp`: those of `docker compose run` as the service that they name. */
  runOnce(command: string): Promise<string>;
  /** Starts every service in the order of `depends_on`, or these; gives its processes. */
  up(wanted?: readonly string[]): ReadonlyMap<string, ChildProcess>;
  /** The output of a command from another machine of the network. */
  outside(command: readonly string[]): string;
}

/** Opens a compose file of `config`; all its services share one network, whatever their profiles. */
export function openComposition(standIns: Readonly<Record<string, StandIn>>, compose = 'compose.yaml'): Composition {
  const stack = new AsyncDisposableStack();
  const project = mkdtempSync(join(tmpdir(), 'watchpost-compose-'));
  stack.defer(() => rmSync(project, { recursive: true, force: true }));
  cpSync(join(root, 'config'), join(project, 'config'), { recursive: true });
  const source = readFileSync(join(project, 'config', compose), 'utf8');
  const file = parse(source, { merge: true }) as ComposeFile;
  const names = Object.keys(file.services);
  const outside = stack.use(createNetworkNamespace());
  outside.run(['ip', 'link', 'add', 'switch', 'type', 'bridge']);
  outside.run(['ip', 'address', 'add', '10.91.0.254/24', 'dev', 'switch']);
  outside.run(['ip', 'link', 'set', 'switch', 'up']);
  const hosts = names.map((name, index) => `10.91.0.${index + 1} ${name}\n`).join('');
  writeFileSync(join(project, 'hosts'), `127.0.0.1 localhost\n${hosts}`);
  const places = new Map(names.map((name, index) => [name, stack.use(place(outside, name, index, file))]));
  const running: ChildProcess[] = [];
  stack.defer(async () => {
    for (const child of running) await ended(child);
  });

  function command(name: string, args?: readonly string[]): readonly string[] {
    const service = file.services[name] ?? {};
    const standIn = standIns[service.build === undefined ? name : 'build'];
    if (standIn === undefined) throw new Error(`nothing stands in for ${name}`);
    const script = scriptOf({
      name,
      service,
      standIn,
      project,
      file,
      args: args ?? service.command ?? standIn.command ?? [],
    });
    return ['unshare', '--mount', '--pid', '--fork', '--kill-child', 'bash', '-euc', script];
  }

  return {
    project,
    setUp: [...source.matchAll(/^# +\$ (.*)$/gm)].map(([, line]) => line ?? ''),
    async runOnce(line) {
      const [, name, args] = /^docker compose --file \S+ run --rm --no-deps (\S+) (.*)$/.exec(line) ?? [];
      if (name === undefined)
        return execFileSync('bash', ['-euc', line], { cwd: project, encoding: 'utf8', stdio: 'pipe' });
      const child = at(places, name).start(command(name, (args ?? '').split(' ')));
      const out = child.stdout === null ? '' : await text(child.stdout);
      if (child.exitCode === null) await once(child, 'exit');
      if (child.exitCode !== 0) throw new Error(`${line}: ended with ${child.exitCode}: ${out}`);
      return out;
    },
    up(wanted = names) {
      const children = new Map<string, ChildProcess>();
      const start = (name: string): void => {
        if (children.has(name)) return;
        for (const other of file.services[name]?.depends_on ?? []) start(other);
        const child = mortal(
          spawn('ip', ['netns', 'exec', at(places, name).name, ...command(name)], {
            stdio: ['ignore', 'pipe', 'pipe'],
          }),
        );
        running.push(child);
        children.set(name, child);
      };
      for (const name of wanted) start(name);
      return children;
    },
    outside: (line) => outside.run(line),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

function place(outside: NetworkNamespace, name: string, index: number, { services }: ComposeFile): NetworkNamespace {
  const own = createNetworkNamespace();
  outside.run(['ip', 'link', 'add', name, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', own.name]);
  outside.run(['ip', 'link', 'set', name, 'master', 'switch', 'up']);
  own.run(['ip', 'link', 'set', 'lo', 'up']);
  own.run(['ip', 'address', 'add', `10.91.0.${index + 1}/24`, 'dev', 'eth0']);
  own.run(['ip', 'link', 'set', 'eth0', 'up']);
  for (const [key, value] of Object.entries(services[name]?.sysctls ?? {})) {
    own.run(['bash', '-euc', `echo "$1" > "/proc/sys/${key.replaceAll('.', '/')}"`, 'sysctl', value]);
  }
  return own;
}

interface Script {
  readonly name: string;
  readonly service: Service;
  readonly standIn: StandIn;
  readonly project: string;
  readonly file: ComposeFile;
  readonly args: readonly string[];
}

// A root made of this machine's programs and libraries, the program at /app, and what the service mounts.
function scriptOf({ name, service, standIn, project, file, args }: Script): string {
  const at = join(project, 'roots', name);
  const bind = (from: string, to: string, readOnly: boolean): string => {
    const isFolder = statSync(from).isDirectory();
    const target = quoted(join(at, to));
    const made = isFolder ? `mkdir -p ${target}` : `mkdir -p "$(dirname ${target})" && touch ${target}`;
    const remount = readOnly ? ` && mount -o remount,bind,ro ${target}` : '';
    return `${made} && mount --bind ${quoted(from)} ${target}${remount}`;
  };
  mkdirSync(at, { recursive: true });
  const volumes = (service.volumes ?? []).map((volume) => {
    const [from = '', to = '', mode] = volume.split(':');
    if (/^[./]/.test(from)) return bind(resolve(project, 'config', from), to, mode === 'ro');
    // On machines of their own services of different profiles have volumes of their own.
    const folder = join(project, 'volumes', service.profiles?.join('-') ?? '', from);
    if (!existsSync(folder)) {
      mkdirSync(folder, { recursive: true });
      chownSync(folder, standIn.user, standIn.user);
    }
    return bind(folder, to, mode === 'ro');
  });
  const configs = (service.configs ?? []).map(({ source, target }) => {
    const path = join(project, `${name}-${source}`);
    writeFileSync(path, file.configs?.[source]?.content ?? '');
    return bind(path, target, true);
  });
  const tmpfs = (service.tmpfs ?? []).map(
    (path) => `mkdir -p ${quoted(join(at, path))} && mount -t tmpfs -o mode=1777 tmpfs ${quoted(join(at, path))}`,
  );
  const command = [...standIn.entry, ...args].map(quoted).join(' ');
  const variables = Object.entries(service.environment ?? {});
  const environment = variables.map(([key, value]) => quoted(`${key}=${value}`)).join(' ');
  // The shell stays the first process of its namespace: whoever changes the user is no longer ended with its parent.
  return [
    `mount -t tmpfs tmpfs ${quoted(at)}`,
    `for link in bin sbin lib lib64; do ln -s usr/$link ${quoted(at)}/$link; done`,
    bind('/usr', '/usr', true),
    bind('/etc/ssl', '/etc/ssl', true),
    bind('/etc/passwd', '/etc/passwd', true),
    bind(join(project, 'hosts'), '/etc/hosts', true),
    // What the image has, and the stand-ins: not config/, whose demo the program would find below its folder.
    ...['package.json', 'migrations', 'src', 'dist'].flatMap((part) =>
      existsSync(join(testedHouse, part)) ? [bind(join(testedHouse, part), `/app/${part}`, true)] : [],
    ),
    ...['node_modules', 'test'].map((part) => bind(join(root, part), `/app/${part}`, true)),
    `mkdir -p ${quoted(at)}/proc ${quoted(at)}/dev && mount -t proc proc ${quoted(at)}/proc && mount --rbind /dev ${quoted(at)}/dev`,
    ...tmpfs,
    ...volumes,
    ...configs,
    ...(service.read_only === true ? [`mount -o remount,ro ${quoted(at)}`] : []),
    `cd / && env -i PATH=/app/node_modules/.bin:/usr/sbin:/usr/bin NODE_ENV=production ${environment} "$(command -v setpriv)" --no-new-privs "$(command -v chroot)" --userspec=${standIn.user}:${standIn.user} --groups= ${quoted(at)} /usr/bin/env --chdir=${standIn.folder ?? '/'} ${command}; exit $?`,
  ].join('\n');
}

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

function at(places: ReadonlyMap<string, NetworkNamespace>, name: string): NetworkNamespace {
  const found = places.get(name);
  if (found === undefined) throw new Error(`no service ${name}`);
  return found;
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}
