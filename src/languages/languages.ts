import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf, WatchpostError } from '#kernel/errors.ts';
import { createLanguage, type VisitorLanguage, type LanguageFile, parseLanguage } from './language.ts';

/** The languages of status pages by their codes, English first. */
export type Languages = ReadonlyMap<string, VisitorLanguage>;

/** The folder of the languages that come with the program: a file for each, named by its code (BCP 47). */
export const languageFolder = import.meta.dirname;

const fileName = /^([a-z]{2,3}(?:-[A-Za-z0-9]{2,8})*)\.json$/;

/** The code of the language that a file is named by; null if it is no code. */
export const codeOfFile = (name: string): string | null => fileName.exec(name)?.[1] ?? null;

/** Reads a folder of languages. Throws `config_invalid` with the file and the reason if one cannot be used. */
export function readLanguages(folder: string): ReadonlyMap<string, LanguageFile> {
  const files = new Map<string, LanguageFile>();
  for (const name of readdirSync(folder).toSorted()) {
    const code = codeOfFile(name);
    if (code !== null) files.set(code, parseLanguage(join(folder, name), jsonOf(join(folder, name))));
  }
  return files;
}

function jsonOf(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new WatchpostError('config_invalid', `${path}: ${messageOf(error)}`, { cause: error });
  }
}

/** The languages of these files; a text that one lacks is English. */
export function createLanguages(files: ReadonlyMap<string, LanguageFile>): Languages {
  const english = files.get('en');
  if (english === undefined) throw new RangeError('there is no English file');
  const others = [...files].filter(([code]) => code !== 'en').toSorted(([a], [b]) => a.localeCompare(b));
  const all = [['en', english] as const, ...others];
  return new Map(all.map(([code, file]) => [code, createLanguage(code, file, english)]));
}

const builtInFiles = readLanguages(languageFolder);

/** The languages that come with the program. */
export const builtInLanguages: Languages = createLanguages(builtInFiles);

/** These languages beside those that come with the program; texts of a known language replace its own. */
export function withOwnLanguages(own: Readonly<Record<string, LanguageFile>>): Languages {
  if (Object.keys(own).length === 0) return builtInLanguages;
  const made = known.get(own) ?? createLanguages(joined(own));
  known.set(own, made);
  return made;
}

// Their formats of numbers and dates are slow to make.
const known = new WeakMap<object, Languages>();

function joined(own: Readonly<Record<string, LanguageFile>>): ReadonlyMap<string, LanguageFile> {
  const files = new Map(builtInFiles);
  for (const [code, file] of Object.entries(own))
    files.set(code, { ...file, texts: { ...files.get(code)?.texts, ...file.texts } });
  return files;
}

const placeholder = /\{\w+\}/g;

/** What is wrong with the texts of a language, a sentence each; texts that it lacks are English. */
export function faultsOfTexts({ locale, texts }: LanguageFile): readonly string[] {
  const english = builtInFiles.get('en')?.texts ?? {};
  const faults: string[] = [];
  const isKnown = Intl.DateTimeFormat.supportedLocalesOf(locale).length > 0;
  if (!isKnown) faults.push(`locale: "${locale}" is not known, so numbers and dates cannot be written in it`);
  for (const [key, text] of Object.entries(texts)) {
    const source = Object.hasOwn(english, key) ? english[key] : undefined;
    if (source === undefined) {
      faults.push(`texts.${key}: is not a text of status pages; en.json has all of them`);
      continue;
    }
    const known = new Set(variantsOf(source).flatMap((one) => one.match(placeholder) ?? []));
    const given = variantsOf(text).flatMap((one) => one.match(placeholder) ?? []);
    const unknown = given.find((one) => !known.has(one));
    if (unknown !== undefined)
      faults.push(`texts.${key}: ${unknown} stands for nothing; known here: ${[...known].join(', ') || 'none'}`);
    if (typeof text === 'object' && text.other === undefined)
      faults.push(`texts.${key}.other: is missing: it is used for all numbers without a form of their own`);
  }
  return faults;
}

const variantsOf = (text: LanguageFile['texts'][string]): readonly string[] =>
  typeof text === 'string' ? [text] : Object.values(text);

/** The language that is used if nothing says another one. */
export function englishOf(languages: Languages): VisitorLanguage {
  const english = languages.get('en');
  if (english === undefined) throw new RangeError('there is no English');
  return english;
}

const mostRanges = 20;

/**
 * The language that an `Accept-VisitorLanguage` header prefers among these (RFC 9110, section 12.5.4, and basic lookup of RFC 4647,
 * section 3.4): `de-AT` finds `de`. English if it names none of them.
 */
export function preferredLanguage(languages: Languages, header: string | undefined): VisitorLanguage {
  const ranges = (header ?? '')
    .slice(0, 1_000)
    .split(',', mostRanges)
    .map((part) => {
      const [tag = '', ...parameters] = part.trim().split(/\s*;\s*/);
      const quality = parameters.find((one) => /^q=/i.test(one))?.slice(2);
      return { tag: tag.toLowerCase(), quality: quality === undefined ? 1 : Number(quality) };
    })
    .filter(({ quality }) => quality > 0)
    .toSorted((a, b) => b.quality - a.quality);
  for (const { tag } of ranges) {
    const found = languageOf(languages, tag);
    if (found !== null) return found;
  }
  return englishOf(languages);
}

/** The language of a tag, or of its beginning; null if there is none. */
export function languageOf(languages: Languages, tag: string): VisitorLanguage | null {
  const parts = tag.toLowerCase().split('-');
  while (parts.length > 0) {
    const code = parts.join('-');
    for (const [known, language] of languages) if (known.toLowerCase() === code) return language;
    parts.pop();
  }
  return null;
}
