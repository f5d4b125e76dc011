import { resolve } from 'node:path';
import { loadConfig } from '#config/load.ts';
import { backUp, examine } from '#store/reading.ts';
import type { World } from './world.ts';

interface ConfigPath {
  readonly config: string;
}

export async function backUpDatabase(file: string, { config: path }: ConfigPath, world: World): Promise<number> {
  const { data } = await loadConfig({ path, env: world.env });
  const copy = resolve(world.cwd, file);
  const bytes = backUp(data, copy);
  world.print(`${copy}: ${(bytes / 1e6).toFixed(1)} MB of ${data}\n`);
  return 0;
}

/** Exit code 1 where something is damaged. */
export async function checkDatabase(
  file: string | undefined,
  { config: path }: ConfigPath,
  world: World,
): Promise<number> {
  const checked = file === undefined ? (await loadConfig({ path, env: world.env })).data : resolve(world.cwd, file);
  const damage = examine(checked);
  if (damage.length === 0) {
    world.print(`${checked}: sound\n`);
    return 0;
  }
  for (const line of damage) world.printError(`${checked}: ${line}\n`);
  world.printError(
    `${checked}: damaged; docs/storage.md tells how to restore a backup or to rescue what can be read\n`,
  );
  return 1;
}
