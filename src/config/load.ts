import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Secret } from '#kernel/secret.ts';
import { type Config, type ReadFiles, resolveConfig } from './config.ts';
import type { Environment } from './environment.ts';
import { judgeConfig } from './judge.ts';
import { find, type Located, problemAt } from './located.ts';
import { merge } from './merge.ts';
import { configError, type Problem } from './problem.ts';
import { explainSystemError, readSources } from './source.ts';
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
  const judged = judgeConfig(merged.root);
  const files = await readNamedFiles(merged.root, folder, problems);
  problems.push(...merged.problems, ...judged.problems);
  if (problems.length > 0 || judged.file === null) throw configError(problems);
  return resolveConfig(judged.file, judged.targets, files, folder);
}

/** What a kind of file has to hold, by the key that names it; null where it does. Everything else is a secret. */
const faults: Readonly<Record<string, (text: string) => string | null>> = {
  ca_file: (text) => (text.includes('-----BEGIN CERTIFICATE-----') ? null : 'holds no PEM certificate'),
  key_file: (text) => (/-----BEGIN (?:\w+ )?PRIVATE KEY-----/.test(text) ? null : 'holds no PEM private key'),
  mail: () => null,
};
const faultOfSecret = (text: string) => (/^\r?\n?$/.test(text) ? 'is empty' : null);

// Every key of these sections that ends in `_file`, wherever it stands in them, and every template.
async function readNamedFiles(root: Located, folder: string, problems: Problem[]): Promise<ReadFiles> {
  const named = [
    ...filesUnder(root, ['smtp']),
    ...filesUnder(root, ['notify']),
    ...[['templates', 'mail']].filter((path) => find(root, path) !== null),
  ];
  const read: Record<string, Secret> = {};
  for (const path of named) {
    const name = find(root, path);
    if (name === null || name.broken || typeof name.value !== 'string' || name.value === '') continue;
    const file = resolve(folder, name.value);
    try {
      const text = await readFile(file, 'utf8');
      const key = String(path.at(-1));
      const wrong = (faults[key] ?? faultOfSecret)(text);
      if (wrong !== null) problems.push(problemAt(root, path, `${file} ${wrong}`));
      else read[path.join('.')] = new Secret(Object.hasOwn(faults, key) ? text : text.replace(/\r?\n$/, ''));
    } catch (error) {
      problems.push(problemAt(root, path, `cannot read ${file}: ${explainSystemError(error)}`));
    }
  }
  return read;
}

function filesUnder(root: Located, path: readonly string[]): readonly (readonly string[])[] {
  return [...(find(root, path)?.children.keys() ?? [])].flatMap((key) => {
    const below = [...path, key];
    return key.endsWith('_file') ? [below] : filesUnder(root, below);
  });
}
