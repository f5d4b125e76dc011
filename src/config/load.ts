import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { channelTypes, faultOfMailTemplate } from '#channels/index.ts';
import { systemClock } from '#kernel/clock.ts';
import { messageOf } from '#kernel/errors.ts';
import { faultOfPasswordHash } from '#kernel/password.ts';
import { isExposed } from '#kernel/private-files.ts';
import { Secret } from '#kernel/secret.ts';
import { createRests, inSteps } from '#kernel/turns.ts';
import { type Config, resolveConfig, type ValidatedTarget } from './config.ts';
import { type ReadFiles, resolveContacts } from './delivery.ts';
import { discoverTargets } from './lists/discover.ts';
import type { EnvironmentVariables } from './read/environment.ts';
import { readEnrolled } from './shape/enrolled.ts';
import { validationSteps } from './check/validate.ts';
import { askOnce, type ReadList } from './lists/listed-targets.ts';
import { find, type SourceNode, problemAt } from './read/located.ts';
import { merge } from './read/merge.ts';
import { tokenHash } from './shape/own-service.ts';
import { readLanguageFiles } from './check/language-files.ts';
import { readLogos } from './check/logo.ts';
import { faultOfAuthorities, faultOfPrivateKey } from './check/pem.ts';
import type { WholeFile } from './print.ts';
import type { ErrorPath } from '#kernel/wording.ts';
import { configError, type Problem } from './read/problem.ts';
import { explainSystemError, type FileListener, readSources, type SourceText } from './read/source.ts';
import { type ConfigFile, usualData } from './shape/schema.ts';
import { Nats } from './shape/sections.ts';
import { withFiles } from './shape/spec-files.ts';
import { type YamlDocument, yamlSteps } from './read/yaml.ts';

export interface LoadOptions {
  /** A YAML file, or a folder of them. */
  readonly path: string;
  /** Where `${NAME}` comes from. */
  readonly env: EnvironmentVariables;
  /** Called with each file that the configuration names before it is read: secrets, keys, templates, targets. Awaited. */
  readonly onFile?: FileListener;
  /** Finds out what addresses under `targets_from` say. Default: what the daemon has kept; they are asked if that is nothing. */
  readonly readList?: ReadList;
  /** Whether nodes may be named that are not there, for they are yet to come. */
  readonly mayNodesCome?: boolean;
  /** A text to read in the place of what a file holds. */
  readonly instead?: SourceText;
  /** Ends it: it rejects with the reason. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Reads the configuration. Rejects with one `config_invalid` that lists every mistake on a line of its own, as
 * `file:line:column: path: what is wrong`, in the order of the files.
 */
export async function loadConfig(options: LoadOptions): Promise<Config> {
  return (await loadWhole(options)).config;
}

/** The same, with what was written. */
export async function loadWhole({
  path,
  env,
  onFile = () => {},
  readList = askOnce(systemClock),
  mayNodesCome = false,
  instead,
  signal,
}: LoadOptions): Promise<{ readonly config: Config; readonly whole: WholeFile }> {
  const { folder, sources: written } = await readSources(path);
  const sources = written.map((source) => (source.file === instead?.file ? instead : source));
  const read: YamlDocument[] = [];
  for (const [order, source] of sources.entries())
    read.push(await inSteps(yamlSteps(source, order, env), systemClock, signal));
  const problems: Problem[] = read.flatMap((one) => one.problems);
  if (read.some(({ wellFormed }) => !wellFormed)) throw configError(problems);

  const merged = merge(read.map(({ root }) => root));
  const enrolled = await enrolledNames(merged.root, folder, problems);
  const place = find(merged.root, ['data'])?.value;
  const data = resolve(folder, typeof place === 'string' ? place : usualData);
  const discovered = await discoverTargets(merged.root, { folder, data, onFile, env, read: readList });
  problems.push(...discovered.problems);
  const validated = await inSteps(validationSteps(discovered.root, enrolled, mayNodesCome), systemClock, signal);
  const logos = await readLogos(merged.root, { folder, problems, onFile });
  const { languages, watched } = await readLanguageFiles(merged.root, { folder, problems, onFile });
  const files = { ...(await readNamedFiles(merged.root, folder, problems, onFile)), logos, languages };
  if (validated.file !== null) problems.push(...contactProblems(merged.root, validated.file, files));
  problems.push(...merged.problems, ...validated.problems);
  if (problems.length > 0 || validated.file === null) throw configError(problems);
  const { file, root } = validated;
  const { targets, exposed } = await fillSpecs(validated.targets, root, { folder, onFile, problems, signal });
  if (problems.length > 0) throw configError(problems);
  const config = {
    ...resolveConfig(file, targets, { ...files, exposed: [...new Set([...files.exposed, ...exposed])] }, folder),
    watched: [...discovered.watched, ...watched],
    lists: discovered.lists,
  };
  return { config, whole: { root, file, targets } };
}

interface DefaultsContext {
  readonly folder: string;
  readonly onFile: FileListener;
  readonly problems: Problem[];
  readonly signal: AbortSignal | undefined;
}

async function fillSpecs(
  targets: readonly ValidatedTarget[],
  root: SourceNode,
  { folder, onFile, problems, signal }: DefaultsContext,
): Promise<{ readonly targets: readonly ValidatedTarget[]; readonly exposed: readonly string[] }> {
  const exposed: string[] = [];
  const filled: ValidatedTarget[] = [];
  const rest = createRests(systemClock, signal);
  for (const target of targets) {
    await rest();
    const path = ['targets', target.name];
    const spec = await withFiles(target.spec, async (option, written) => {
      const file = resolve(folder, written);
      await onFile(file);
      const text = await readText(file, faultOfSecret, (what) => problemAt(root, [...path, ...option], what), problems);
      if (text !== null && (await isExposed(file))) exposed.push(file);
      return text;
    });
    if (typeof spec === 'string') problems.push(problemAt(root, path, spec));
    filled.push(spec === null || typeof spec === 'string' ? target : { ...target, spec });
  }
  return { targets: filled, exposed };
}

/** What a kind of file has to hold, by the key that names it; null if it does. Everything else is a secret. */
const faults: Readonly<Record<string, (text: string) => string | null>> = {
  ca_file: faultOfAuthorities,
  key_file: faultOfPrivateKey,
  hash_file: (text) =>
    tokenHash.test(firstWord(text)) ? null : 'does not begin with a SHA-256 in 64 hexadecimal digits',
  password_hash_file: faultOfPasswordHash,
  mail: faultOfMailTemplate,
};
const faultOfSecret = (text: string) => (/^\r?\n?$/.test(text) ? 'is empty' : null);
const faultOfBeatSecret = (text: string) =>
  /^[A-Za-z0-9_-]{16,128}\r?\n?$/.test(text)
    ? null
    : 'holds no secret for an address: 16 to 128 letters, digits, "-" and "_", as "watchpost beat new" makes them';

function faultOf(path: ErrorPath): (text: string) => string | null {
  return path[0] === 'targets' ? faultOfBeatSecret : (faults[String(path.at(-1))] ?? faultOfSecret);
}

// Every key of these sections that ends in `_file`, wherever it stands in them, and a few others.
async function readNamedFiles(
  root: SourceNode,
  folder: string,
  problems: Problem[],
  onFile: FileListener,
): Promise<Omit<ReadFiles, 'logos' | 'languages'>> {
  const others = [
    ['templates', 'mail'],
    ['nats', 'ca_file'],
    ...[...(root.children.get('targets')?.children.keys() ?? [])].map((name) => ['targets', name, 'secret_file']),
  ].filter((path) => find(root, path) !== null);
  const named: Record<string, Secret> = {};
  const tokenHashes = new Map<string, string>();
  const exposed: string[] = [];
  const sections = [
    'http',
    'notify',
    'service',
    'export',
    ...channelTypes.flatMap((type) => Object.keys(type.sections)),
  ];
  for (const path of [...sections.flatMap((section) => filesUnder(root, [section])), ...others]) {
    const written = find(root, path)?.value;
    if (typeof written === 'string' && written !== '') await onFile(resolve(folder, written));
    const text = await readNamedFile(root, path, folder, problems);
    if (text === null || typeof written !== 'string') continue;
    const key = String(path.at(-1));
    const file = resolve(folder, written);
    const isSecret = !Object.hasOwn(faults, key) || key === 'key_file';
    if (isSecret && (await isExposed(file))) exposed.push(file);
    if (key === 'hash_file') tokenHashes.set(written, firstWord(text).toLowerCase());
    named[path.join('.')] = new Secret(Object.hasOwn(faults, key) ? text : text.replace(/\r?\n$/, ''));
  }
  return { named, tokenHashes, exposed: [...new Set(exposed)] };
}

async function readNamedFile(
  root: SourceNode,
  path: ErrorPath,
  folder: string,
  problems: Problem[],
): Promise<string | null> {
  const name = find(root, path);
  if (name === null || name.broken || typeof name.value !== 'string' || name.value === '') return null;
  return readText(resolve(folder, name.value), faultOf(path), (what) => problemAt(root, path, what), problems);
}

async function readText(
  file: string,
  fault: (text: string) => string | null,
  complaint: (what: string) => Problem,
  problems: Problem[],
): Promise<string | null> {
  try {
    const text = await readFile(file, 'utf8');
    const wrong = fault(text);
    if (wrong === null) return text;
    problems.push(complaint(`${file} ${wrong}`));
  } catch (error) {
    problems.push(complaint(`cannot read ${file}: ${explainSystemError(error)}`));
  }
  return null;
}

function filesUnder(root: SourceNode, path: ErrorPath): readonly ErrorPath[] {
  const here = find(root, path);
  const isList = Array.isArray(here?.value);
  return [...(here?.children.keys() ?? [])].flatMap((key): readonly ErrorPath[] => {
    const below = [...path, isList ? Number(key) : key];
    return key.endsWith('_file') ? [below] : filesUnder(root, below);
  });
}

// As sha256sum writes it: the hash, blanks, a name.
function firstWord(text: string): string {
  return text.trim().split(/\s/)[0] ?? '';
}

async function enrolledNames(root: SourceNode, folder: string, problems: Problem[]): Promise<readonly string[]> {
  const file = Nats.shape.nodes_file.safeParse(find(root, ['nats', 'nodes_file'])?.value);
  if (find(root, ['nats']) === null || !file.success) return [];
  try {
    return Object.keys(await readEnrolled(resolve(folder, file.data)));
  } catch (error) {
    problems.push(problemAt(root, ['nats', 'nodes_file'], messageOf(error)));
    return [];
  }
}

// What a channel only sees once the files are read.
function contactProblems(root: SourceNode, file: ConfigFile, files: ReadFiles): readonly Problem[] {
  const contacts = resolveContacts(file, files);
  return channelTypes.flatMap((type) =>
    (contacts[type.name] ?? []).flatMap((contact) =>
      (type.problemsOf?.(contact) ?? []).map(({ path, message }) =>
        problemAt(root, ['notify', contact.notify, type.name, ...path], message),
      ),
    ),
  );
}
