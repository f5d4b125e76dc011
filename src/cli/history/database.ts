import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { loadConfig } from '#config/load.ts';
import { backUp } from '#store/backup.ts';
import { examineInThread } from '#store/chores.ts';
import { examine } from '#store/reading.ts';
import { jsonText } from '../shared/json.ts';
import { awaited } from '../shared/progress.ts';
import type { CommandContext } from '../shared/command-context.ts';

interface DatabaseOptions {
  readonly config: string;
  readonly json?: boolean;
}

// Less than this takes less than a second.
const smallBytes = 20_000_000;

export async function backUpDatabase(
  file: string,
  { config: path, json }: DatabaseOptions,
  context: CommandContext,
): Promise<number> {
  const { data } = await loadConfig({ path, env: context.env });
  const copy = resolve(context.cwd, file);
  let words = 'copying';
  const onProgress = (done: number, all: number) => (words = `copied ${megabytes(done)} of ${megabytes(all)}`);
  const bytes = await awaited(backUp(data, copy, { signal: context.stop, onProgress }), () => words, context);
  if (json === true) context.print(jsonText({ copy, of: data, bytes }));
  else context.print(`${copy}: ${megabytes(bytes)} of ${data}\n`);
  return 0;
}

/** Exit code 1 if something is damaged. */
export async function checkDatabase(
  file: string | undefined,
  { config: path, json }: DatabaseOptions,
  context: CommandContext,
): Promise<number> {
  const checked = file === undefined ? (await loadConfig({ path, env: context.env })).data : resolve(context.cwd, file);
  const bytes = sizeOf(checked);
  const damage =
    bytes < smallBytes
      ? examine(checked)
      : await awaited(examineInThread(checked, context.stop), () => `looking through ${megabytes(bytes)}`, context);
  if (json === true) {
    context.print(jsonText({ file: checked, sound: damage.length === 0, damage }));
    return damage.length === 0 ? 0 : 1;
  }
  if (damage.length === 0) {
    context.print(`${checked}: sound\n`);
    return 0;
  }
  for (const line of damage) context.printError(`${checked}: ${line}\n`);
  context.printError(
    `${checked}: damaged; docs/storage.md describes how to restore a backup or to recover what can be read\n`,
  );
  return 1;
}

const sizeOf = (file: string) => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;
