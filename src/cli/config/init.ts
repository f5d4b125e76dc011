import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { messageOf, systemCode, WatchpostError } from '#kernel/errors.ts';
import { jsonText } from '../shared/json.ts';
import type { CommandContext } from '../shared/command-context.ts';

/** Writes a first configuration to a new file. What is there already stays. */
export async function init(
  path: string,
  { json }: { readonly json?: boolean },
  context: CommandContext,
): Promise<number> {
  try {
    await writeFile(resolve(context.cwd, path), firstConfig, { flag: 'wx' });
  } catch (error) {
    const reason = systemCode(error) === 'EEXIST' ? 'already exists; it was left as it is' : messageOf(error);
    throw new WatchpostError('usage', `${path}: ${reason}`, { cause: error });
  }
  if (json === true) {
    context.print(jsonText({ written: resolve(context.cwd, path) }));
    return 0;
  }
  const named = path === 'watchpost.yaml' ? '' : ` --config ${path}`;
  context.print(`${path} is written. Change its targets, then:\n`);
  context.print(`  watchpost config check${named}\n  watchpost run --once${named}\n  watchpost run${named}\n`);
  return 0;
}

const firstConfig = `# What Watchpost watches, and who is notified. "watchpost config check" reports every mistake.

data: watchpost.db
http: { listen: 127.0.0.1:8080 } # pages, API, /metrics, /healthz

# Without this, mails are written as files into the folder "mail" beside the database.
# smtp: { url: smtps://mail.example.com, username: alerts, password_file: smtp-password, from: Watchpost <alerts@example.com> }

defaults: { every: 30s, notify: [ops] }

targets:
  itself: { check: http, host: "http://127.0.0.1:8080/healthz" }
  # shop: { check: http, host: https://shop.example.com, expect: { status: 200, certificate: { valid_for: 14d } } }
  # router: { check: ping, host: 192.0.2.1 }
  # database: { check: tcp, host: db.example.com:5432 }

rules:
  down: { failing: majority, rounds: 2, recover: 2, severity: critical }

notify:
  ops: { email: { to: [ops@example.com] } }
`;
