import { expect, test } from 'vitest';
import english from '#languages/en.json' with { type: 'json' };
import { createLanguage, type LanguageFile, parseLanguage, type TextKey } from '#languages/language.ts';
import {
  builtInLanguages,
  createLanguages,
  languageFolder,
  languageOf,
  preferredLanguage,
  readLanguages,
} from '#languages/languages.ts';

const files = readLanguages(languageFolder);
const others = [...files].filter(([code]) => code !== 'en');
const keys = Object.keys(english.texts) as TextKey[]; // oxlint-disable-line typescript/no-unsafe-type-assertion -- the keys of the file itself

const variants = (text: LanguageFile['texts'][string] | undefined) =>
  text === undefined ? [] : typeof text === 'string' ? [text] : Object.values(text);
const placeholders = (text: string) => [...text.matchAll(/\{\w+\}/g)].map(String).toSorted();

test('there are English, German, French, Spanish and Japanese', () => {
  expect([...files.keys()].toSorted()).toEqual(expect.arrayContaining(['de', 'en', 'es', 'fr', 'ja']));
  expect([...builtInLanguages.values()].map(({ name }) => name)).toEqual([
    'English',
    'Deutsch',
    'Español',
    'Français',
    '日本語',
  ]);
});

test.for([...files])('%s has every text, with the placeholders and the plurals that it needs', ([, file]) => {
  expect(Object.keys(file.texts).toSorted()).toEqual(keys.toSorted());
  const plurals = new Intl.PluralRules(file.locale);
  const needed = new Set([0, 1, 2, 5, 11, 90].map((count) => plurals.select(count)));
  for (const key of keys) {
    const [source, text] = [files.get('en')?.texts[key], file.texts[key]];
    expect([key, typeof text], 'a plural is one in every language').toEqual([key, typeof source]);
    const wanted = placeholders(variants(source)[0] ?? '');
    for (const one of variants(text)) expect([key, placeholders(one)]).toEqual([key, wanted]);
    if (typeof text === 'object') for (const one of needed) expect([key, text[one]]).toEqual([key, expect.any(String)]);
  }
});

// Words that two languages share.
const same: Readonly<Record<string, readonly string[]>> = {
  json: ['de', 'fr', 'es', 'ja'],
  feed: ['de'],
  maintenance: ['fr'],
};

test.for(others)('no text of %s was left in English', ([code, file]) => {
  const left = keys.filter((key) =>
    variants(file.texts[key]).some((one) => variants(files.get('en')?.texts[key]).includes(one)),
  );
  expect(left.filter((key) => same[key]?.includes(code) !== true)).toEqual([]);
});

test('a browser gets the first of its languages that there is, in the order of its preference', () => {
  const chosen = (header: string | undefined) => preferredLanguage(builtInLanguages, header).code;
  expect(chosen('de-AT,de;q=0.9,en;q=0.8')).toBe('de');
  expect(chosen('nl,fr;q=0.5,es;q=0.7')).toBe('es');
  expect(chosen('DE')).toBe('de');
  expect(chosen('de;q=0, ja;q=0.1')).toBe('ja');
  for (const none of [undefined, '', '*', 'nl', ';;,,q=1', 'deutsch', 'x'.repeat(100_000), 'en;q=foo'])
    expect(chosen(none)).toBe('en');
  expect(languageOf(builtInLanguages, 'fr-CA')?.code).toBe('fr');
  expect(languageOf(builtInLanguages, 'constructor')).toBeNull();
});

test('numbers, durations, lists, months and plurals are written as the language does', () => {
  const of = (code: string) => builtInLanguages.get(code);
  expect(of('de')?.percent(0.99912)).toBe('99,912\u00a0%');
  expect(of('en')?.percent(0.999999)).toBe('99.999%');
  expect(of('fr')?.duration(3_900_000).replaceAll('\u00a0', ' ')).toBe('1 heure et 5 minutes');
  expect(of('ja')?.month('2026-11')).toBe('2026年11月');
  expect(of('es')?.say('down', { count: 2, names: of('es')?.list(['Web', 'API']) ?? '' })).toBe(
    'Web y API no funcionan.',
  );
  expect(of('de')?.say('downMany', { count: 1_234 })).toBe('1.234 Dienste sind gestört.');
});

test('a language of somebody else may lack texts, which are English, and a wrong file is named with what is wrong', () => {
  const nl = parseLanguage('nl.json', { name: 'Nederlands', locale: 'nl-NL', texts: { up: 'Alles werkt.' } });
  const all = createLanguages(new Map([...files, ['nl', nl]]));
  expect(all.get('nl')?.say('up')).toBe('Alles werkt.');
  expect(all.get('nl')?.say('today')).toBe('today');
  expect(() => parseLanguage('x.json', { name: 'X', locale: 'not a locale', texts: {} })).toThrow(/x\.json.*locale/s);
  expect(() => parseLanguage('x.json', { name: 'X', locale: 'en', texts: { up: '' } })).toThrow(/x\.json.*texts\.up/s);
  const markup = createLanguage('en', { name: 'X', locale: 'en', texts: { up: '{a} of {b}' } }, nl);
  expect(markup.pieces('up', { a: 1, b: 2 })).toEqual(['', 1, ' of ', 2, '']);
});
