import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { unlessMissing } from '#kernel/files.ts';
import { createProgram, eventually, query } from '../support/program.ts';
import { tcpServer } from '../support/tcp-servers.ts';

const preload = new URL('../support/loaded-modules.js', import.meta.url).pathname;

const kinds = {
  server: /\/fastify\/fastify\.js$/,
  mails: /\/nodemailer\/dist\/\w+\/nodemailer\.js$/,
  templates: /\/liquidjs\//,
  terminal: /\/pino-pretty\//,
  probes: /\/src\/checks\/\w+\/probe\.ts$/,
  'used probes': /\/src\/checks\/tcp\/probe\.ts$/,
  'other probes': /\/src\/checks\/(?:http|websocket|postgres|domain)\/probe\.ts$/,
  'all types': /\/src\/checks\/index\.ts$/,
};

test(
  'the hub loads what only mails need with the first one and no probes, a node the types that it checks',
  { timeout: 60_000 },
  async () => {
    const server = await tcpServer(() => {});
    const environment: NodeJS.ProcessEnv = { NODE_OPTIONS: `--import=${preload}` };
    await using program = await createProgram({ environment });
    const list = join(program.folder, 'modules');
    environment['LOADED_MODULES'] = list;
    const loaded = async (thread = '') => {
      const urls = (await readFile(`${list}${thread}`, 'utf8')).split('\n');
      return Object.entries(kinds).flatMap(([name, kind]) => (urls.some((url) => kind.test(url)) ? [name] : []));
    };
    await program.start(`data: ${program.database}
http: { listen: "127.0.0.1:0" }
defaults: { every: 1s, rules: [down], notify: [ops] }
notify: { ops: { email: { to: [ops@example.com] }, group_wait: 0s } }
rules: { down: { failing: any, rounds: 1 } }
targets: { shop: { check: tcp, host: "${server.host}" } }
`);
    await eventually(30_000, () => expect(query(program.database, 'SELECT * FROM results')).not.toEqual([]));
    expect(await loaded()).toEqual(['server', 'all types']);
    expect(await loaded('-of-threads')).toEqual(['probes', 'used probes']);
    await server[Symbol.asyncDispose]();
    await eventually(30_000, async () => expect(await mailsIn(join(program.folder, 'mail'))).toHaveLength(1));
    expect(await loaded()).toEqual(['server', 'mails', 'templates', 'all types']);
  },
);

async function mailsIn(folder: string): Promise<readonly string[]> {
  return ((await unlessMissing(readdir(folder))) ?? []).filter((name) => name.endsWith('.eml'));
}
