import { mkdir, open } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { loadConfig } from '#config/load.ts';
import { explainSystemError } from '#config/read/source.ts';
import type { ImportResult, ImportSource } from '#import/import.ts';
import { WatchpostError } from '#kernel/errors.ts';
import { createLog } from '#kernel/log.ts';
import { singleLine } from '#kernel/text.ts';
import { jsonText } from '../shared/json.ts';
import { durationOf } from '../shared/option-values.ts';
import type { CommandContext } from '../shared/command-context.ts';

interface Options {
  readonly to: string;
  readonly history?: boolean;
  readonly compare?: number | true;
  readonly json?: boolean;
}

interface SourceCommand {
  readonly name: ImportSource;
  readonly files: string;
  readonly hasHistory: boolean;
  /** What it is called where its verdicts are compared with ours; null where they cannot be. */
  readonly title: string | null;
}

const sources: readonly SourceCommand[] = [
  { name: 'gatus', files: 'its configuration: YAML files, or a folder of them', hasHistory: false, title: 'Gatus' },
  {
    name: 'blackbox',
    files: 'the files of the blackbox exporter, Prometheus, its rules and the Alertmanager, in any order',
    hasHistory: false,
    title: null,
  },
  { name: 'kuma', files: 'its database kuma.db, or its JSON backup', hasHistory: true, title: 'Uptime Kuma' },
];

/** `watchpost import gatus FILE...` and the like. */
export function addImportCommands(program: Command, context: CommandContext, finish: (code: number) => void): void {
  const command = program.command('import').description('write a configuration that does what another monitor does');
  for (const source of sources) {
    const { name, files, hasHistory, title } = source;
    const one = command
      .command(name)
      .description(`from ${files}`)
      .argument('<file...>', files)
      .option('--to <file>', 'the configuration to write; it must not be there yet', 'watchpost.yaml')
      .option('--json', 'print JSON');
    if (hasHistory) one.option('--no-history', 'leave out what was measured before');
    if (title !== null)
      one.addOption(
        new Option(
          '--compare [time]',
          `write nothing; request all http targets, once or for this time, and list where the verdict differs from that of ${title}`,
        ).argParser(durationOf),
      );
    one.action(async (paths: readonly string[], options: Options) =>
      finish(await runImport(source, paths, options, context)),
    );
  }
}

async function runImport(
  { name, title }: SourceCommand,
  paths: readonly string[],
  { to, history = true, compare, json }: Options,
  context: CommandContext,
): Promise<number> {
  const { importFrom } = await import('#import/import.ts');
  const withHistory = history && compare === undefined;
  const imported = await importFrom(name, paths, { env: context.env, withHistory });
  if (compare !== undefined && title !== null) {
    const { compareVerdicts } = await import('./compare.ts');
    return compareVerdicts(imported, { title, forMs: compare === true ? 0 : compare, json }, context);
  }
  const path = resolve(context.cwd, to);
  const files = [...imported.files].map(([name, text]) => [join(dirname(path), name), text] as const);
  for (const [file, text] of [[path, imported.text] as const, ...files]) await writeNew(file, text);
  const { targets, notes, history: measured } = imported;
  if (json !== true) context.print(`${listOf(imported).join('\n')}\n`);
  const past = measured === null ? null : await writeHistory(path, measured(), context);
  if (json === true) {
    context.print(jsonText({ written: path, targets, notes, secrets: files.map(([file]) => file), history: past }));
    return 0;
  }
  if (past !== null) context.print(`${relative(dirname(path), past.database)}: ${past.results} results of before\n`);
  context.print(`${to}: ${countsOf(imported)}\n`);
  return 0;
}

// Only the owner may read it: passwords of checks stand in it.
async function writeNew(path: string, text: string): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await using file = await open(path, 'wx', 0o600);
    await file.writeFile(text);
  } catch (error) {
    const isThere = error instanceof Error && 'code' in error && error.code === 'EEXIST';
    const why = isThere ? 'already exists; name another file with --to' : explainSystemError(error);
    throw new WatchpostError('usage', `${path} cannot be written: ${why}`, { cause: error });
  }
}

/** Into the database of the new configuration, as if its first node had seen it. */
async function writeHistory(
  path: string,
  history: ReturnType<NonNullable<ImportResult['history']>>,
  context: CommandContext,
): Promise<{ readonly database: string; readonly results: number }> {
  const config = await loadConfig({ path, env: context.env });
  const [node] = config.nodes;
  if (node === undefined) throw new WatchpostError('internal', 'the imported configuration has no node');
  const { writePast } = await import('#store/past.ts');
  const log = createLog({ level: 'warn', pretty: context.interactive, fd: 2 });
  const nothing = { states: [], incidents: [], deliveries: [] };
  const results = writePast(
    { path: config.data, pid: context.pid, log },
    mapped(history, ({ target, at, outcome }) => ({
      target,
      dueAt: at,
      votes: [{ node: node.info, outcome }],
      ...nothing,
    })),
    (count) => {
      if (context.interactive) context.printError(`\r\u{1b}[K${count} results of before`);
    },
  );
  if (context.interactive) context.printError('\r\u{1b}[K');
  return { database: config.data, results };
}

function* mapped<From, To>(values: Iterable<From>, map: (value: From) => To): Iterable<To> {
  for (const value of values) yield map(value);
}

function listOf({ notes, files }: ImportResult): readonly string[] {
  const lines = notes.map(({ place, kind, text }) => `${place}: ${kind}: ${singleLine(text, 400)}`);
  return [...lines, ...[...files.keys()].map((name) => `wrote a secret to ${name}`)];
}

function countsOf({ notes, targets }: ImportResult): string {
  const counts = (['left out', 'lost', 'differs'] as const).map(
    (kind) => `${notes.filter((note) => note.kind === kind).length} ${kind}`,
  );
  return `${targets} targets; ${counts.join(', ')}`;
}
