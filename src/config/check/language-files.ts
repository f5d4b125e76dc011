import { readdir, readFile, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { messageOf, WatchpostError } from '#kernel/errors.ts';
import { type LanguageFile, parseLanguage } from '#languages/language.ts';
import { codeOfFile, faultsOfTexts } from '#languages/languages.ts';
import { find, problemAt, type SourceNode } from '../read/located.ts';
import type { Problem } from '../read/problem.ts';
import { explainSystemError, type FileListener } from '../read/source.ts';

interface LanguagesContext {
  readonly folder: string;
  readonly problems: Problem[];
  /** Called with each file that is read. */
  readonly onFile: FileListener;
}

const largest = 262_144;
const mostFiles = 100;

interface FoundLanguages {
  /** By their codes. */
  readonly languages: Readonly<Record<string, LanguageFile>>;
  /** Patterns of their files: a new one is a change. */
  readonly watched: readonly string[];
}

/** Reads the operator's own languages of status pages. What cannot be used is added to `problems`. */
export async function readLanguageFiles(
  root: SourceNode,
  { folder, problems, onFile }: LanguagesContext,
): Promise<FoundLanguages> {
  const path = ['languages'];
  const written = find(root, path)?.value;
  if (typeof written !== 'string' || written === '') return { languages: {}, watched: [] };
  const languages = resolve(folder, written);
  const complain = (what: string) => problems.push(problemAt(root, path, what));
  const read: Record<string, LanguageFile> = {};
  try {
    const names = (await readdir(languages)).filter((name) => name.endsWith('.json')).toSorted();
    if (names.length === 0) complain(`${languages} has no file of a language, such as nl.json`);
    if (names.length > mostFiles) complain(`${languages} has more than ${mostFiles} files`);
    for (const name of names.slice(0, mostFiles)) {
      const file = join(languages, name);
      await onFile(file);
      const language = await readLanguage(file, name, complain);
      if (language !== null) read[codeOfFile(name) ?? name] = language;
    }
  } catch (error) {
    complain(`cannot read ${languages}: ${explainSystemError(error)}`);
  }
  return { languages: read, watched: [join(languages, '*.json')] };
}

async function readLanguage(
  file: string,
  name: string,
  complain: (what: string) => unknown,
): Promise<LanguageFile | null> {
  if (codeOfFile(name) === null) {
    complain(`${file}: expected the code of a language as its name, such as nl.json or pt-BR.json (BCP 47)`);
    return null;
  }
  if ((await stat(file)).size > largest) {
    complain(`${file} is larger than 256 KiB`);
    return null;
  }
  try {
    const language = parseLanguage(file, jsonOf(file, await readFile(file, 'utf8')));
    const faults = faultsOfTexts(language);
    for (const fault of faults) complain(`${file}: ${fault}`);
    return faults.length === 0 ? language : null;
  } catch (error) {
    if (!(error instanceof WatchpostError)) throw error;
    complain(error.message);
    return null;
  }
}

function jsonOf(file: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new WatchpostError('config_invalid', `${file}: ${messageOf(error)}`, { cause: error });
  }
}
