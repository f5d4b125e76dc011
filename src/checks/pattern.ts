import { createRequire } from 'node:module';
import type * as Re2 from 're2js';
import { messageOf } from '#kernel/errors.ts';
import { NewestEntries } from '#kernel/newest-entries.ts';

/** A regular expression that takes linear time, whatever it is given: what targets send never holds a node up. */
export interface Pattern {
  /** Whether it matches somewhere in a text. */
  test(text: string): boolean;
  /** Whether it matches a text as a whole. */
  matches(text: string): boolean;
  /** What the first group matches, or the whole pattern if it has none; null if nothing matches. */
  capture(text: string): string | null;
  /** The text with all that matches replaced; `$` has no meaning in the replacement. */
  replaceAll(text: string, by: string): string;
}

export interface PatternOptions {
  /** Whether `^` and `$` also match at the ends of lines; a carriage return belongs to the end of its line then. */
  readonly lines?: boolean;
}

/** The fault of a pattern, for its author. */
export class PatternError extends Error {
  override readonly name = 'PatternError';
}

// Compiling takes longer than a match as a rule, and the same few patterns come again and again.
const kept = new NewestEntries<string, Pattern>(500);

/** Compiles a regular expression in RE2's syntax. Throws a `PatternError` for any other, those included that only backtracking can match. */
export function compilePattern(source: string, { lines = false }: PatternOptions = {}): Pattern {
  const key = `${lines ? 'm' : ''}/${source}`;
  const known = kept.get(key);
  if (known !== undefined) return known;
  const pattern = wrap(compile(source, lines), lines);
  kept.set(key, pattern);
  return pattern;
}

function wrap(regex: Re2.RE2JS, lines: boolean): Pattern {
  const test = (text: string) => regex.test(text);
  return {
    test: lines ? (text) => test(text) || (text.includes('\r') && test(text.replaceAll('\r\n', '\n'))) : test,
    matches: (text) => regex.testExact(text),
    capture(text) {
      const matcher = regex.matcher(text);
      if (!matcher.find()) return null;
      return matcher.group(matcher.groupCount() > 0 ? 1 : 0);
    },
    replaceAll: (text, by) => regex.matcher(text).replaceAll(library().RE2JS.quoteReplacement(by)),
  };
}

const load = createRequire(import.meta.url);

// Loaded with the first pattern: most programs have none, and it takes a megabyte in each thread.
function library(): typeof Re2 {
  // Sound because the types are those of this very package.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return load('re2js') as typeof Re2;
}

// Look-arounds ahead and references to groups are what no automaton can do.
const backtracking = /\(\?[=!]|\\[1-9]|\\k</;

/** The same, of a pattern that is not used again. */
export function compile(source: string, lines: boolean): Re2.RE2JS {
  const { RE2JS } = library();
  const why = 'cannot run in linear time: look-aheads and references to groups are not supported';
  const bare = source.replaceAll(/\\[^1-9k]/g, '');
  if (backtracking.test(bare)) throw new PatternError(why);
  try {
    const flags = RE2JS.LOOKBEHINDS | (lines ? RE2JS.MULTILINE : 0);
    return RE2JS.compile(RE2JS.translateRegExp(source), flags);
  } catch (error) {
    const reason = messageOf(error).replace(/^error parsing regexp: /, '');
    throw new PatternError(`is no valid regular expression: ${reason}`, { cause: error });
  }
}
