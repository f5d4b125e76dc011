import { mkdir, open } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Command } from 'commander';
import { explainSystemError } from '#config/source.ts';
import { WatchpostError } from '#kernel/errors.ts';
import { singleLine } from '#kernel/text.ts';
import type { Imported, ImportSource } from '#import/import.ts';
import type { World } from './world.ts';

interface Options {
  readonly to: string;
}

const sources: readonly { readonly name: ImportSource; readonly files: string }[] = [
  { name: 'gatus', files: 'its configuration: YAML files, or a folder of them' },
];

/** `watchpost import gatus FILE...` and the like. */
export function addImportCommands(program: Command, world: World, finish: (code: number) => void): void {
  const command = program.command('import').description('write a configuration that does what another monitor does');
  for (const { name, files } of sources) {
    command
      .command(name)
      .description(`from ${files}`)
      .argument('<file...>', files)
      .option('--to <file>', 'the configuration to write; it must not be there yet', 'watchpost.yaml')
      .action(async (paths: readonly string[], options: Options) =>
        finish(await runImport(name, paths, options, world)),
      );
  }
}

async function runImport(
  source: ImportSource,
  paths: readonly string[],
  { to }: Options,
  world: World,
): Promise<number> {
  const { importFrom } = await import('#import/import.ts');
  const imported = await importFrom(source, paths, world.env);
  const path = resolve(world.cwd, to);
  const files = [...imported.files].map(([name, text]) => [join(dirname(path), name), text] as const);
  for (const [file, text] of [[path, imported.text] as const, ...files]) await writeNew(file, text);
  world.print(report(imported, to));
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
    const why = isThere ? 'it is there already; name another file with --to' : explainSystemError(error);
    throw new WatchpostError('usage', `${path} cannot be written: ${why}`, { cause: error });
  }
}

function report({ notes, targets, files }: Imported, to: string): string {
  const lines = notes.map(({ place, kind, text }) => `${place}: ${kind}: ${singleLine(text, 400)}`);
  const counts = (['left out', 'lost', 'differs'] as const).map(
    (kind) => `${notes.filter((note) => note.kind === kind).length} ${kind}`,
  );
  const secrets = [...files.keys()].map((name) => `a secret was written to ${name}`);
  return [...lines, ...secrets, `${to}: ${targets} targets; ${counts.join(', ')}`, ''].join('\n');
}
