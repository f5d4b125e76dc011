import type { Config } from '../config.ts';
import type { LoadOptions } from '../load.ts';
import { find, problemAt } from '../read/located.ts';
import { merge } from '../read/merge.ts';
import { configError } from '../read/problem.ts';
import { HttpKeys } from '../shape/sections.ts';
import { readSources } from '../read/source.ts';
import { readYaml } from '../read/yaml.ts';

/**
 * Where the configuration says that the daemon listens. Nothing else of it is judged: a client that asks whether the daemon is well
 * must not get an error about a mistake that it has not loaded. Rejects with `config_invalid` if the address cannot be determined.
 */
export async function readListen({ path, env }: LoadOptions): Promise<Pick<Config['http'], 'host' | 'port' | 'admin'>> {
  const { sources } = await readSources(path);
  const read = sources.map((source, order) => readYaml(source, order, env));
  if (read.some(({ wellFormed }) => !wellFormed)) throw configError(read.flatMap(({ problems }) => problems));
  const { root } = merge(read.map(({ root }) => root));
  const [listen, admin] = [find(root, ['http', 'listen']), find(root, ['http', 'admin'])];
  const { data, error } = HttpKeys.pick({ listen: true, admin: true }).safeParse({
    listen: listen?.value ?? undefined,
    admin: admin?.value ?? undefined,
  });
  if (data !== undefined && listen?.broken !== true && admin?.broken !== true) {
    return { ...data.listen, admin: data.admin ?? null };
  }
  const [issue] = error?.issues ?? [];
  const key = admin?.broken === true ? 'admin' : String(issue?.path[0] ?? 'listen');
  throw configError([problemAt(root, ['http', key], issue?.message ?? 'is invalid')]);
}
