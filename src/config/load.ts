import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { messageOf } from '#kernel/errors.ts';
import { Secret } from '#kernel/secret.ts';
import { type Config, type ReadFiles, resolveConfig } from './config.ts';
import type { Environment } from './environment.ts';
import { readEnrolled } from './enrolled.ts';
import { judgeConfig } from './judge.ts';
import { find, type Located, problemAt } from './located.ts';
import { merge } from './merge.ts';
import { tokenHash } from './own-service.ts';
import { configError, type Path, type Problem } from './problem.ts';
import { explainSystemError, readSources } from './source.ts';
import { Nats } from './sections.ts';
import { readYaml } from './yaml.ts';

export interface LoadOptions {
  /** A YAML file, or a folder of them. */
  readonly path: string;
  /** Where `${NAME}` comes from. */
  readonly env: Environment;
}

/**
 * Reads the configuration. Rejects with one `config_invalid` that lists every mistake on a line of its own, as
 * `file:line:column: path: what is wrong`, in the order of the files.
 */
export async function loadConfig({ path, env }: LoadOptions): Promise<Config> {
  const { folder, sources } = await readSources(path);
  const read = sources.map((source, order) => readYaml(source, order, env));
  const problems: Problem[] = read.flatMap((one) => one.problems);
  if (read.some(({ wellFormed }) => !wellFormed)) throw configError(problems);

  const merged = merge(read.map(({ root }) => root));
  const enrolled = await enrolledNames(merged.root, folder, problems);
  const judged = judgeConfig(merged.root, enrolled);
  const files = await readNamedFiles(merged.root, folder, problems);
  problems.push(...merged.problems, ...judged.problems);
  if (problems.length > 0 || judged.file === null) throw configError(problems);
  return resolveConfig(judged.file, judged.targets, files, folder);
}

async function readNamedFiles(root: Located, folder: string, problems: Problem[]): Promise<ReadFiles> {
  const read = async (path: Path, fault: (text: string) => string | null) => {
    const name = find(root, path);
    if (name === null || name.broken || typeof name.value !== 'string' || name.value === '') return null;
    try {
      const text = await readFile(resolve(folder, name.value), 'utf8');
      const wrong = fault(text);
      if (wrong === null) return text;
      problems.push(problemAt(root, path, `${resolve(folder, name.value)} ${wrong}`));
    } catch (error) {
      const reason = explainSystemError(error);
      problems.push(problemAt(root, path, `cannot read ${resolve(folder, name.value)}: ${reason}`));
    }
    return null;
  };
  const readSecret = async (path: Path) => {
    const text = await read(path, (text) => (/^\r?\n?$/.test(text) ? 'is empty' : null));
    return text === null ? null : new Secret(text.replace(/\r?\n$/, ''));
  };
  const serviceToken = await readSecret(['service', 'token_file']);
  const password = await readSecret(['smtp', 'password_file']);
  const pem = (text: string) => (text.includes('-----BEGIN CERTIFICATE-----') ? null : 'holds no PEM certificate');
  const ca = await read(['smtp', 'ca_file'], pem);
  const natsCa = await read(['nats', 'ca_file'], pem);
  const tokenHashes = new Map<string, string>();
  for (const [index, token] of find(root, ['service', 'tokens'])?.children ?? []) {
    const file = token.children.get('hash_file')?.value;
    const text = await read(['service', 'tokens', Number(index), 'hash_file'], (text) =>
      tokenHash.test(firstWord(text)) ? null : 'does not begin with a SHA-256 in 64 hexadecimal digits',
    );
    if (text !== null && typeof file === 'string') tokenHashes.set(file, firstWord(text).toLowerCase());
  }
  return { tokenHashes, serviceToken, password, ca, natsCa };
}

// As sha256sum writes it: the hash, blanks, a name.
function firstWord(text: string): string {
  return text.trim().split(/\s/)[0] ?? '';
}

async function enrolledNames(root: Located, folder: string, problems: Problem[]): Promise<readonly string[]> {
  const file = Nats.shape.nodes_file.safeParse(find(root, ['nats', 'nodes_file'])?.value);
  if (find(root, ['nats']) === null || !file.success) return [];
  try {
    return Object.keys(await readEnrolled(resolve(folder, file.data)));
  } catch (error) {
    problems.push(problemAt(root, ['nats', 'nodes_file'], messageOf(error)));
    return [];
  }
}
