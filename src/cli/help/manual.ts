import { places } from '../shared/places.ts';
import type { CommandShape } from '../shared/commands.ts';
import { exitCodes } from '../shared/exit-codes.ts';

/** The manual page watchpost(1), from the same definitions as --help. */
export function manualOf(shapes: readonly CommandShape[], version: string): string {
  const [program, ...commands] = shapes;
  return `${[
    `.TH WATCHPOST 1 "" "watchpost ${version}" "User Commands"`,
    '.SH NAME',
    `watchpost \\- ${roff(program?.description ?? '')}`,
    '.SH SYNOPSIS',
    '.B watchpost',
    '.I command',
    '[options]',
    '.SH COMMANDS',
    ...commands.filter(({ below }) => below.length === 0).flatMap(section),
    '.SH EXIT STATUS',
    ...exitCodes.flatMap(({ code, meaning }) => ['.TP', `.B ${code}`, roff(meaning)]),
    '.SH FILES',
    ...places.flatMap((path) => ['.TP', roff(path)]),
    'The configuration file if none is given: the first of these that exists.',
  ].join('\n')}\n`;
}

function section({ path, description, takes, options }: CommandShape): readonly string[] {
  return [
    `.SS ${roff(['watchpost', path, ...takes.map(({ term }) => term)].join(' '))}`,
    roff(`${description.charAt(0).toUpperCase()}${description.slice(1)}.`),
    ...takes
      .filter(({ description }) => description !== '')
      .flatMap(({ term, description }) => ['.TP', `.I ${roff(term)}`, roff(description)]),
    ...options.flatMap(({ flags, description }) => ['.TP', `.B ${roff(flags)}`, roff(description)]),
  ];
}

// A line that begins with a dot or an apostrophe would be a request.
function roff(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll(/\s*\n\s*/g, ' ')
    .replace(/^(?=[.'])/, '\\&');
}
