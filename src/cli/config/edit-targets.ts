import type { Command, Option } from 'commander';
import { type CheckTypeName, CheckSpec, startableTypeNames } from '#checks/index.ts';
import { type ConfigEdit, planAddition, planRemoval, writeEdit } from '#config/edit/edit-targets.ts';
import { proposedName, proposedType } from '#config/edit/proposed-target.ts';
import type { Config } from '#config/config.ts';
import { loadConfig } from '#config/load.ts';
import { validate } from '#config/read/explain.ts';
import { messageOf, WatchpostError } from '#kernel/errors.ts';
import { checkHere } from '../check/check-here.ts';
import { askDaemon } from '../shared/ask-daemon.ts';
import { jsonText } from '../shared/json.ts';
import type { CommandContext } from '../shared/command-context.ts';

interface EditOptions {
  readonly config: string;
  readonly file?: string;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

interface AdditionOptions extends EditOptions {
  readonly name?: string;
  readonly type?: string;
  readonly every?: string;
  readonly force?: boolean;
}

/** Commands that change the targets in a configuration, and have the running daemon read it. */
export function addEditCommands(
  program: Command,
  configOption: Option,
  context: CommandContext,
  finish: (code: number) => void,
): void {
  program
    .command('add')
    .description('check a destination now, add it to the targets of the configuration, and reload')
    .argument('<host>', 'what to check: a URL, or a name or an address with a port or without')
    .option('--name <name>', 'the name of the target; default: made of the host')
    .option('--type <type>', `how it is checked: ${startableTypeNames.join(', ')}; default: by scheme and port`)
    .option('--every <duration>', 'how often; default: as other targets')
    .option('--force', 'add it even if the check does not find it up')
    .addOption(configOption)
    .option('--file <path>', 'the file to change; default: the last one of the configuration that has targets')
    .option('--dry-run', 'change nothing, print the line')
    .option('--json', 'print JSON')
    .action(async (host, options) => finish(await addTarget(host, options, context)));
  program
    .command('remove')
    .description('remove a target from the configuration, and reload; its history stays')
    .argument('<target>', 'its name')
    .addOption(configOption)
    .option('--dry-run', 'change nothing')
    .option('--json', 'print JSON')
    .action(async (name, options) => finish(await removeTarget(name, options, context)));
}

async function addTarget(host: string, options: AdditionOptions, context: CommandContext): Promise<number> {
  const { config: path, every, json = false, force = false } = options;
  const before = await loadConfig({ path, env: context.env });
  const type = typeOf(options.type) ?? proposedType(host);
  const { output: spec, issues } = validate(CheckSpec, { type, host });
  if (spec === null) throw new WatchpostError('usage', issues.map(({ message }) => `host ${message}`).join('\n'));
  const name = options.name ?? proposedName(host, new Set(before.targets.map((target) => target.name)));
  const code = await checkHere(spec, { policy: 'private' }, json ? { ...context, print: () => {} } : context);
  if (code !== 0 && !force) {
    context.printError('It is not added; --force adds it all the same.\n');
    return code;
  }
  const keys = { check: type, host, ...(every === undefined ? {} : { every }) };
  const edit = await planAddition({ path, env: context.env, file: options.file }, { name, keys });
  return change({ edit, before, target: name, verb: 'added to' }, options, context);
}

function typeOf(word: string | undefined): CheckTypeName | null {
  if (word === undefined) return null;
  const type = startableTypeNames.find((one) => one === word);
  if (type !== undefined) return type;
  throw new WatchpostError('usage', `--type: there is no "${word}"; use one of ${startableTypeNames.join(', ')}`);
}

async function removeTarget(name: string, options: EditOptions, context: CommandContext): Promise<number> {
  const place = { path: options.config, env: context.env };
  const before = await loadConfig(place);
  const edit = await planRemoval(place, name);
  return change({ edit, before, target: name, verb: 'removed from' }, options, context);
}

interface AppliedEdit {
  readonly edit: ConfigEdit;
  readonly before: Config;
  readonly target: string;
  readonly verb: 'added to' | 'removed from';
}

async function change(
  { edit, before, target, verb }: AppliedEdit,
  { dryRun = false, json = false }: EditOptions,
  context: CommandContext,
): Promise<number> {
  const { file, config } = edit;
  if (!dryRun) await writeEdit(edit);
  const reloaded = dryRun ? null : await reload(before);
  if (json) context.print(jsonText({ target, file, written: !dryRun, reloaded, targets: config.targets.length }));
  else {
    context.print(dryRun ? `${lineOf(edit.before, edit.after)}\n` : `${target} is ${verb} ${file}\n`);
    if (reloaded === true) context.print('the running daemon has read it\n');
    if (reloaded === false) context.print('no daemon runs here with this configuration; it reads it when it starts\n');
  }
  return 0;
}

// Whether a daemon runs that has read it.
async function reload(config: Config): Promise<boolean> {
  try {
    await askDaemon(config, '/-/reload', {});
    return true;
  } catch (error) {
    if (error instanceof WatchpostError && error.code === 'daemon_unreachable') return false;
    throw new WatchpostError('usage', `the file is written, but the daemon refuses it: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

// The line that only one of the texts has.
function lineOf(before: string, after: string): string {
  const [shorter, longer] = before.length < after.length ? [before, after] : [after, before];
  const known = new Set(shorter.split('\n'));
  return longer
    .split('\n')
    .filter((line) => !known.has(line))
    .join('\n');
}
