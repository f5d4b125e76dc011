import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '#kernel/clock.ts';
import type { LogLevel } from '#kernel/log.ts';
import { formatDuration } from '#kernel/units.ts';
import { run } from '../run/run.ts';
import type { CommandContext } from '../shared/command-context.ts';
import { type DemoShop, openDemoShop } from './demo-shop.ts';

export interface DemoOptions {
  readonly listen: string;
  readonly outageAfter: number;
  readonly logLevel: LogLevel;
}

const outageForMs = 60_000;
const slowAfterMs = 60_000;
const slowForMs = 90_000;

/** Runs the daemon in a folder of its own beside three small servers, in which an outage happens. Nothing stays of it. */
export async function demo({ listen, outageAfter, logLevel }: DemoOptions, context: CommandContext): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'watchpost-demo-'));
  try {
    await using shop = await openDemoShop(systemClock, {
      outageAfterMs: outageAfter,
      outageForMs,
      slowAfterMs,
      slowForMs,
    });
    const config = join(folder, 'watchpost.yaml');
    await writeFile(config, configOf(shop, listen));
    context.print(
      `A small shop with its database and its search runs in this process.\n` +
        `In ${formatDuration(outageAfter)} the database fails for ${formatDuration(outageForMs)}, ` +
        `and later the search is slow for ${formatDuration(slowForMs)}.\n` +
        `Mails are files in ${join(folder, 'mail')}; everything is removed at the end.\n`,
    );
    return await run({ config, logLevel }, context);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function configOf({ databasePort, shopPort, searchPort }: DemoShop, listen: string): string {
  return `data: watchpost.db
http: { listen: ${JSON.stringify(listen)} }
defaults: { every: 5s, rules: [down], notify: [ops] }
targets:
  database: { check: tcp, host: "127.0.0.1:${databasePort}" }
  shop: { check: http, host: "http://127.0.0.1:${shopPort}/health", depends_on: database }
  search: { check: http, host: "http://127.0.0.1:${searchPort}/", rules: [down, slow] }
rules:
  down: { failing: majority, rounds: 2, recover: 2, severity: critical }
  slow: { latency: { above: 500ms, window: 30s }, severity: warning }
notify:
  ops: { email: { to: [ops@example.com] }, group_wait: 5s }
pages:
  status: { title: The shop, targets: { shop: Shop, search: Search } }
`;
}
