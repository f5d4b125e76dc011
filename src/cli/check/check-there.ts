import { readFile } from 'node:fs/promises';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { checkOf, type CheckSpec, type NodeSelection } from '#checks/index.ts';
import { inexpressibleOptions } from '#config/shape/foreign-service.ts';
import { systemClock } from '#kernel/clock.ts';
import { messageOf, WatchpostError } from '#kernel/errors.ts';
import { createLog } from '#kernel/log.ts';
import { systemRandom } from '#kernel/random.ts';
import { Secret } from '#kernel/secret.ts';
import { jsonText } from '../shared/json.ts';
import { createLiveTable } from '../shared/live-table.ts';
import { exitCodeOf } from './outcome.ts';
import type { CommandContext } from '../shared/command-context.ts';

export interface ThereOptions {
  readonly json?: boolean;
  readonly service?: string;
  readonly tokenFile?: string;
  readonly node?: readonly string[];
  readonly maxNodes?: number;
}

/** Adds what says which service and which of its nodes. */
export function addServiceOptions(command: Command): Command {
  return command
    .addOption(new Option('--service <url>', 'run the check on the nodes of this check service'))
    .addOption(new Option('--token-file <path>', 'a file with the token for the service'))
    .addOption(
      new Option('--node <name>', 'only this node of the service, such as us1; may be repeated').argParser(
        (word, before: readonly string[] | undefined) => [...(before ?? []), word],
      ),
    )
    .addOption(new Option('--max-nodes <count>', 'use at most this many nodes of the service').argParser(countOf));
}

/** Runs one check at the service and shows the results of its nodes as they come. */
export async function checkThere(
  spec: CheckSpec,
  url: string,
  options: ThereOptions,
  context: CommandContext,
): Promise<number> {
  if (checkOf(spec.type).row === null) {
    throw new WatchpostError('usage', `the API of a check service does not know ${spec.type} checks`);
  }
  const unheard = inexpressibleOptions(spec);
  if (unheard.length > 0) {
    const named = unheard.map((option) => `"${option}"`).join(', ');
    throw new WatchpostError('usage', `the API of a check service takes the host only: leave out ${named}`);
  }
  if (!/^https?:\/\/[^/?#]/.test(url)) {
    throw new WatchpostError('usage', '--service: expected its address, such as "https://check.example.com"');
  }
  const { createClient } = await import('#client/client.ts');
  const client = createClient({
    url: url.replace(/\/+$/, ''),
    token: await readToken(options.tokenFile),
    budget: { count: 60, perMs: 60_000 },
    clock: systemClock,
    random: systemRandom,
    log: createLog({ level: 'silent', pretty: false, fd: 2 }),
  });
  try {
    const table = options.json === true ? null : createLiveTable(spec, context);
    const { votes, reportUrl } = await client.run(
      { spec, nodes: selectionOf(options) },
      context.stop,
      table === null ? undefined : (progress) => table.show(progress),
    );
    if (table === null) {
      context.print(jsonText({ check: spec.type, host: spec.host, report: reportUrl, votes }));
    } else {
      table.finish({ reportUrl, nodes: votes });
    }
    const statuses = votes.map(({ outcome }) => outcome.status);
    return exitCodeOf(
      statuses.find((status) => status === 'down') ?? statuses.find((status) => status === 'up') ?? 'unknown',
    );
  } finally {
    client.close();
  }
}

function selectionOf({ node = [], maxNodes }: ThereOptions): NodeSelection {
  if (node.length > 0) return { kind: 'named', names: node };
  return maxNodes === undefined ? { kind: 'all' } : { kind: 'count', count: maxNodes, avoid: [] };
}

async function readToken(path: string | undefined): Promise<Secret | null> {
  if (path === undefined) return null;
  try {
    return new Secret((await readFile(path, 'utf8')).trim());
  } catch (error) {
    throw new WatchpostError('usage', `--token-file: ${path} cannot be read: ${messageOf(error)}`, { cause: error });
  }
}

/** A whole number above 0. */
function countOf(word: string): number {
  const count = Number(word);
  if (Number.isInteger(count) && count > 0) return count;
  throw new InvalidArgumentError('Expected a whole number above 0.');
}
