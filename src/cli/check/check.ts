import { readFile } from 'node:fs/promises';
import { type Command, Option } from 'commander';
import { type AnyCheck, checkOf, CheckSpec, startableTypeNames, type Policy } from '#checks/index.ts';
import { validate } from '#config/read/explain.ts';
import { withFiles } from '#config/shape/spec-files.ts';
import { messageOf, WatchpostError } from '#kernel/errors.ts';
import { checkHere } from './check-here.ts';
import { addServiceOptions, checkThere, type ThereOptions } from './check-there.ts';
import { type Flag, flagsOf, optionsOf } from '../shared/flags.ts';
import type { CommandContext } from '../shared/command-context.ts';

interface CheckCommandOptions extends ThereOptions {
  readonly policy: Policy;
}

/** Adds `check` with one command for each check type, whose options are those of its spec. */
export function addCheckCommands(program: Command, context: CommandContext, finish: (code: number) => void): void {
  const check = program
    .command('check')
    .description('check one target now, from this machine or through a check service')
    .addHelpText('after', '\nExit code: 0 up, 1 down, 3 unknown, 2 wrong usage.');
  for (const type of startableTypeNames) addType(check, checkOf(type), context, finish);
}

function addType(parent: Command, check: AnyCheck, context: CommandContext, finish: (code: number) => void): void {
  const flags = flagsOf(check.Spec).map((flag) => ({ flag, option: optionOf(flag) }));
  const command = parent
    .command(check.type)
    .description(check.summary)
    .argument('<host>', check.Spec.shape['host']?.description ?? 'what to check')
    .optionsGroup('Options of the check:');
  for (const { option } of flags) command.addOption(option);
  command
    .optionsGroup('Where and how:')
    .option('--json', 'print all findings as JSON')
    .addOption(
      new Option('--policy <policy>', 'addresses that may be reached: all, or public ones only')
        .choices(['private', 'public'])
        .default('private'),
    );
  addServiceOptions(command).action(
    async (host: string, options: CheckCommandOptions & Readonly<Record<string, unknown>>) => {
      const given = flags.flatMap(({ flag, option }) => wordsOf(flag, options[option.attributeName()]));
      const spec = await filled(specOf(check, host, given));
      const { service } = options;
      finish(
        service === undefined
          ? await checkHere(spec, options, context)
          : await checkThere(spec, service, options, context),
      );
    },
  );
}

function optionOf({ name, kind, description, default: preset }: Flag): Option {
  const hint = preset === null ? description : `${description} (default: ${preset})`;
  if (kind === 'on' || kind === 'off') return new Option(`--${name}`, hint);
  return new Option(`--${name} <${kind === 'pair' ? 'name=value' : 'value'}>`, hint).argParser(collect);
}

const collect = (word: string, before: unknown): readonly string[] => [...(Array.isArray(before) ? before : []), word];

// Commander hands a `--no-x` out as x, true if it was not given.
function wordsOf(flag: Flag, value: unknown): { flag: Flag; words: readonly string[] }[] {
  if (flag.kind === 'off') return value === false ? [{ flag, words: [] }] : [];
  if (flag.kind === 'on') return value === true ? [{ flag, words: [] }] : [];
  return Array.isArray(value) ? [{ flag, words: value.map(String) }] : [];
}

function specOf(check: AnyCheck, host: string, given: Parameters<typeof optionsOf>[0]): CheckSpec {
  const { output, issues } = validate(CheckSpec, { type: check.type, host, ...optionsOf(given) });
  if (output !== null) return output;
  const complaints = issues.map((issue) => `${writtenAs(issue.path, given)}${sentenceOf(issue)}`);
  throw new WatchpostError('usage', [...new Set(complaints)].join('\n'));
}

async function filled(spec: CheckSpec): Promise<CheckSpec> {
  const read = await withFiles(spec, async (option, file) => {
    try {
      return await readFile(file, 'utf8');
    } catch (error) {
      const flag = option.join('-').replaceAll('_', '-');
      throw new WatchpostError('usage', `--${flag}: ${file} cannot be read: ${messageOf(error)}`, { cause: error });
    }
  });
  if (read === null || typeof read === 'string') throw new WatchpostError('usage', read ?? 'a file cannot be read');
  return read;
}

function writtenAs(path: readonly PropertyKey[], given: Parameters<typeof optionsOf>[0]): string {
  if (path[0] === 'host') return 'host ';
  const at = path.map(String);
  const named = given.find(({ flag }) => flag.path.every((part, depth) => at[depth] === part));
  return `--${named?.flag.name ?? at.join('-').replaceAll('_', '-')}: `;
}

function sentenceOf(issue: ReturnType<typeof validate>['issues'][number]): string {
  if (issue.code !== 'invalid_union' || issue.message !== '') return issue.message;
  const forms = issue.errors.flatMap(([first]) => (first === undefined ? [] : [sentenceOf(first)]));
  return [...new Set(forms)].join(', or ');
}
