import { execFile } from 'node:child_process';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { unlessMissing } from '#kernel/files.ts';
import { version } from '#kernel/version.ts';
import { createProgram, eventually, query } from '../support/program.ts';
import { serveHttp } from '../support/http-servers.ts';
import { closedPort, tcpServer } from '../support/tcp-servers.ts';

const root = new URL('../../', import.meta.url).pathname;
const preload = join(root, 'test/support/loaded-modules.js');

const kinds = {
  server: /\/fastify\/fastify\.js$/,
  'compilers of Fastify': /\/node_modules\/(?:ajv|fast-uri|@fastify\/(?:ajv|fast-json-stringify)-compiler)\//,
  'all of prom-client': /\/node_modules\/(?:prom-client\/index\.js|@opentelemetry\/)/,
  mails: /\/nodemailer\/dist\/\w+\/nodemailer\.js$/,
  templates: /\/liquidjs\//,
  terminal: /\/pino-pretty\//,
  probes: /\/src\/checks\/\w+\/probe\.ts$/,
  'used probes': /\/src\/checks\/tcp\/probe\.ts$/,
  'other probes': /\/src\/checks\/(?:http|websocket|postgres|domain)\/probe\.ts$/,
  patterns: /\/node_modules\/re2js\//,
  paths: /\/node_modules\/json-p3\//,
  suffixes: /\/node_modules\/tldts\//,
  'document of checks': /\/src\/service\/http\/openapi\.ts$/,
  'document of the history': /\/src\/web\/history-document\.ts$/,
  commands: /\/src\/cli\/program\.ts$/,
  'all types': /\/src\/checks\/index\.ts$/,
  schemas: /\/node_modules\/zod\/|\/src\/kernel\/light-schemas\.ts$/,
};

// What every hub loads.
const usual = {
  'reader of YAML': /\/node_modules\/yaml\//,
  'reader of commands': /\/node_modules\/commander\//,
};

const ofCommands = { ...kinds, ...usual, got: /\/node_modules\/got\// };

test(
  'the hub loads what only mails need with the first one and no probes, a node the types that it checks',
  { timeout: 60_000 },
  async () => {
    const server = await tcpServer(() => {});
    await using watched = await createWatchedProgram();
    const { program, loaded } = watched;
    await program.start(`data: ${program.database}
http: { listen: "127.0.0.1:0" }
defaults: { every: 1s, rules: [down], notify: [ops] }
notify: { ops: { email: { to: [ops@example.com] }, group_wait: 0s } }
rules: { down: { failing: any, rounds: 1 } }
targets: { shop: { check: tcp, host: "${server.host}" } }
`);
    await eventually(30_000, () => expect(query(program.database, 'SELECT * FROM results')).not.toEqual([]));
    expect(await loaded()).toEqual(['server', 'all types', 'schemas']);
    expect(await loaded('-of-nodes')).toEqual(['probes', 'used probes']);
    expect(withoutSchemas(await loaded('-of-threads'))).toEqual(['probes', 'used probes']);
    await server[Symbol.asyncDispose]();
    await eventually(30_000, async () => expect(await mailsIn(join(program.folder, 'mail'))).toHaveLength(1));
    expect(await loaded()).toEqual(['server', 'mails', 'templates', 'all types', 'schemas']);
  },
);

test(
  'libraries for patterns, paths and domains, and the documents of the API are loaded with their first use, after a reload too',
  { timeout: 60_000 },
  async () => {
    await using server = await serveHttp((_, response) => response.end('{"state":"well"}'));
    await using watched = await createWatchedProgram();
    const { program, loaded } = watched;
    const config = (targets: string) => `data: ${program.database}
http: { listen: "127.0.0.1:0" }
service: {}
defaults: { every: 1s, rules: [down], notify: [ops] }
notify: { ops: { email: { to: [ops@example.com] } } }
rules: { down: { failing: any, rounds: 1 } }
targets: {${targets}}
`;
    const plain = `shop: { check: http, host: "http://127.0.0.1:${server.port}" }`;
    const { url } = await program.start(config(plain));
    const states = async () => {
      const answer = await fetch(`${url}/api/v1/targets`);
      return targetStates.parse(await answer.json()).targets.map(({ name, status }) => `${name} ${status}`);
    };
    await eventually(30_000, async () => expect(await states()).toEqual(['shop up']));
    expect(await loaded()).toEqual(['server', 'all types', 'schemas']);
    const ofNode = ['probes', 'other probes'];
    expect(await loaded('-of-nodes')).toEqual(ofNode);
    expect(withoutSchemas(await loaded('-of-threads'))).toEqual(ofNode);

    const exacting = `${plain}
  exact: { check: http, host: "http://127.0.0.1:${server.port}", expect: { body: { regex: "w.ll", json: { path: $.state, equals: well } } } }
  wrong: { check: http, host: "http://127.0.0.1:${server.port}", expect: { body: { json: { path: $.state, equals: ill } } } }
`;
    await writeFile(join(program.folder, 'watchpost.yaml'), config(exacting.replaceAll('\n  ', ', ')));
    expect((await fetch(`${url}/-/reload`, { method: 'POST' })).status).toBe(200);
    await eventually(30_000, async () => expect(await states()).toEqual(['exact up', 'shop up', 'wrong down']));
    expect(await loaded()).toEqual(['server', 'patterns', 'paths', 'all types', 'schemas']);
    expect(await loaded('-of-nodes')).toEqual([...ofNode, 'patterns', 'paths']);
    expect(withoutSchemas(await loaded('-of-threads'))).toEqual([...ofNode, 'patterns', 'paths']);

    const start = await fetch(`${url}/check-tcp?host=www.example.invalid:1&max_nodes=1`, {
      headers: { accept: 'application/json' },
    });
    expect(start.status).toBe(200);
    expect(await loaded()).toEqual(['server', 'patterns', 'paths', 'suffixes', 'all types', 'schemas']);

    for (const path of ['/openapi.json', '/api/v1/openapi.json'])
      expect(await (await fetch(`${url}${path}`)).json()).toMatchObject({ openapi: '3.1.0' });
    const documents = ['document of checks', 'document of the history'];
    expect(await loaded()).toEqual(['server', 'patterns', 'paths', 'suffixes', ...documents, 'all types', 'schemas']);
  },
);

test(
  'a node loads no schemas, for its targets and for the evidence that it gathers when one fails',
  { timeout: 60_000 },
  async () => {
    await using server = await tcpServer((socket) => socket.end('HTTP/1.1 204 No Content\r\n\r\n'));
    await using watched = await createWatchedProgram();
    const { program, loaded } = watched;
    const port = await closedPort();
    await program.start(`data: ${program.database}
http: { listen: "127.0.0.1:0" }
defaults: { every: 1s, rules: [down], notify: [ops] }
notify: { ops: { email: { to: [ops@example.com] } } }
rules: { down: { failing: any, rounds: 1 } }
targets:
  ping: { check: ping, host: 127.0.0.1, count: 1 }
  http: { check: http, host: "http://${server.host}" }
  tcp: { check: tcp, host: "127.0.0.1:${port}" }
  dns: { check: dns, host: a.example, resolver: "127.0.0.1:${port}" }
  udp: { check: udp, host: "127.0.0.1:${port}" }
  tls: { check: tls, host: "127.0.0.1:${port}" }
`);
    const targets = () =>
      query(program.database, 'SELECT DISTINCT target FROM history ORDER BY target').map(({ target }) => target);
    await eventually(30_000, () => expect(targets()).toEqual(['dns', 'http', 'ping', 'tcp', 'tls', 'udp']));
    await eventually(30_000, () =>
      expect(query(program.database, 'SELECT * FROM evidence WHERE length(node) > 0')).not.toEqual([]),
    );
    expect(await loaded('-of-nodes')).toEqual(['probes', 'used probes', 'other probes']);
    expect(withoutSchemas(await loaded('-of-threads'))).toEqual(['probes', 'used probes', 'other probes']);
  },
);

test(
  'asking whether a daemon is healthy, as containers do every half minute, loads nothing that only other commands need',
  { timeout: 60_000 },
  async () => {
    await using watched = await createWatchedProgram();
    const { program, loaded } = watched;
    const port = await closedPort();
    const config = `data: ${program.database}
http:
  listen: 127.0.0.1:${port}
targets: { shop: { check: tcp, host: "127.0.0.1:9" } }
`;
    const ask = async (...args: readonly string[]) => watched.command('health', ...args);
    const { process: daemon } = await program.start(config);
    // Without --config it is the file of this folder.
    expect(await ask()).toEqual({ code: 0, out: `healthy: http://127.0.0.1:${port}/healthz\n`, err: '' });
    expect(await loaded('', { ...kinds, ...usual })).toEqual([]);
    expect(JSON.parse((await ask('--json', '-c', 'watchpost.yaml')).out)).toMatchObject({ well: true });
    expect(await loaded('', { ...kinds, ...usual })).toEqual([]);
    daemon.kill('SIGSTOP');
    expect(await ask()).toEqual({ code: 1, out: '', err: `http://127.0.0.1:${port}/healthz: no answer within 4 s\n` });
    daemon.kill('SIGKILL');
    await eventually(10_000, async () =>
      expect(await ask('--ready')).toMatchObject({ code: 1, err: expect.stringContaining('ECONNREFUSED') }),
    );
    // What takes a second look is read as ever.
    expect(await ask('--raedy')).toMatchObject({ code: 2, err: expect.stringContaining('Did you mean --ready?') });
    expect(await loaded('', { ...kinds, ...usual })).toContain('reader of commands');
    await writeFile(join(program.folder, 'watchpost.yaml'), config.replace(`127.0.0.1:${port}`, '"${HOST}:80"'));
    expect(await ask()).toMatchObject({ code: 2, out: '' });
    expect(await loaded('', { ...kinds, ...usual })).toContain('reader of YAML');
  },
);

test(
  'a command that reports its run, as long as it runs, and the version have nothing loaded that only other commands need',
  { timeout: 60_000 },
  async () => {
    await using watched = await createWatchedProgram();
    const { program, loaded } = watched;
    await using server = await serveHttp((request, response) => void request.resume().on('end', () => response.end()));
    await writeFile(join(program.folder, 'backup'), `http://127.0.0.1:${server.port}/beat/secret\n`);
    const job = ['backup', '--', 'sh', '-c', 'echo "$1"; exit 3', 'sh', 'done'];
    for (const args of [
      ['beat', '--beats', '.', ...job],
      ['beat', 'run', '--beats=.', '--try-for=1m', ...job],
    ]) {
      expect(await watched.command(...args)).toEqual({ code: 3, out: 'done\n', err: '' });
      expect(await loaded('', ofCommands)).toEqual([]);
    }
    expect(await watched.command('beat', '--help')).toMatchObject({ code: 0 });
    expect(await loaded('', ofCommands)).toContain('reader of commands');
    for (const flag of ['--version', '-V']) {
      expect(await watched.command(flag)).toEqual({ code: 0, out: `${version}\n`, err: '' });
      expect(await loaded('', ofCommands)).toEqual([]);
    }
  },
);

// The thread for chores of the database has some.
const withoutSchemas = (found: readonly string[]) => found.filter((kind) => kind !== 'schemas');

const targetStates = z.object({ targets: z.array(z.object({ name: z.string(), status: z.string() })) });

/** A program that lists what it and its threads load. */
async function createWatchedProgram() {
  const environment: NodeJS.ProcessEnv = { NODE_OPTIONS: `--import=${preload}` };
  // The sources: test/e2e/bundle.test.ts looks at what the bundle loads.
  const program = await createProgram({ house: root, environment });
  const list = join(program.folder, 'modules');
  environment['LOADED_MODULES'] = list;
  return {
    program,
    /** Runs a command in its folder; what it loads takes the place of what others did. */
    command: async (...args: readonly string[]) => {
      await rm(list, { force: true });
      return new Promise<{ readonly code: unknown; readonly out: string; readonly err: string }>((resolve) => {
        const env = { ...process.env, ...environment };
        execFile(
          process.execPath,
          [join(root, 'src/watchpost.js'), ...args],
          { cwd: program.folder, env },
          (error, out, err) => resolve({ code: error === null ? 0 : error.code, out, err }),
        );
      });
    },
    loaded: async (thread = '', wanted: Readonly<Record<string, RegExp>> = kinds): Promise<readonly string[]> => {
      const urls = (await readFile(`${list}${thread}`, 'utf8')).split('\n');
      return Object.entries(wanted).flatMap(([name, kind]) => (urls.some((url) => kind.test(url)) ? [name] : []));
    },
    [Symbol.asyncDispose]: async () => program[Symbol.asyncDispose](),
  };
}

async function mailsIn(folder: string): Promise<readonly string[]> {
  return ((await unlessMissing(readdir(folder))) ?? []).filter((name) => name.endsWith('.eml'));
}
