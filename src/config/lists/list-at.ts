import { readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { formatHostPort, parseEndpoint } from '#checks/index.ts';
import { sha256 } from '#kernel/hash.ts';
import type { TargetList } from './listed-targets.ts';
import { type SourceNode, problemAt } from '../read/located.ts';
import type { Problem } from '../read/problem.ts';
import { explainSystemError } from '../read/source.ts';
import { TargetSource } from '../shape/targets-from.ts';

export interface ListParts {
  readonly folder: string;
  /** The database, beside which lists are kept. */
  readonly data: string;
  /** Called with each file that is read. */
  readonly onFile: (path: string) => void;
  readonly problems: Problem[];
}

/** The list of targets that an entry of `targets_from` names by `url` or `srv`, or null if it names none, or not as it should. */
export async function listAt(
  root: SourceNode,
  name: string,
  entry: SourceNode,
  parts: ListParts,
): Promise<TargetList | null> {
  const source = TargetSource.safeParse(entry.value).data;
  if (source === undefined) return null;
  const { ask } = source;
  const keptAs = (address: string) =>
    join(dirname(parts.data), 'targets', `${name}-${sha256(address).slice(0, 8)}.json`);
  if (source.srv !== undefined) {
    const server = ask.server === undefined ? null : serverOf(ask.server);
    const shown = `SRV ${source.srv}${server === null ? '' : ` at ${server}`}`;
    return {
      name,
      source: { kind: 'srv', name: source.srv, server },
      shown,
      everyMs: ask.every,
      keptIn: keptAs(shown),
    };
  }
  if (source.url === undefined) return null;
  const url = source.url.reveal();
  const token = await fileAt(root, [name, 'token_file'], ask.token_file, parts);
  const ca = await fileAt(root, [name, 'ca_file'], ask.ca_file, parts);
  if (token === false || ca === false) return null;
  const { protocol, host, pathname } = new URL(url);
  const own = Object.entries(ask.headers).map(([header, value]) => [header.toLowerCase(), value.reveal()]);
  return {
    name,
    source: {
      kind: 'http',
      url,
      headers: { ...Object.fromEntries(own), ...(token === null ? {} : { authorization: `Bearer ${token.trim()}` }) },
      ca,
    },
    shown: `${protocol}//${host}${entry.children.get('url')?.expanded === true ? '/...' : pathname}`,
    everyMs: ask.every,
    keptIn: keptAs(url),
  };
}

function serverOf(written: string): string {
  const parsed = parseEndpoint(written);
  if (!parsed.ok) throw new RangeError(`the name server ${written} ${parsed.message}`);
  return formatHostPort(parsed.name, parsed.port ?? 53);
}

/** What a file holds; null if none is named, false if it cannot be read. */
async function fileAt(
  root: SourceNode,
  [name, key]: readonly [string, string],
  written: string | undefined,
  { folder, onFile, problems }: ListParts,
): Promise<string | null | false> {
  if (written === undefined) return null;
  const file = resolve(folder, written);
  onFile(file);
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const message = `cannot read ${file}: ${explainSystemError(error)}`;
    problems.push(problemAt(root, ['targets_from', name, 'ask', key], message));
    return false;
  }
}
