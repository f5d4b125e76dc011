import type { LoadOptions } from './load.ts';
import { find, problemAt } from './located.ts';
import { merge } from './merge.ts';
import { configError } from './problem.ts';
import { Http } from './sections.ts';
import { readSources } from './source.ts';
import { readYaml } from './yaml.ts';

/**
 * Where the configuration says that the daemon listens. Nothing else of it is judged: whoever asks whether the daemon is well
 * must not be told of a mistake that it has not loaded. Rejects with `config_invalid` where the address cannot be told.
 */
export async function readListen({
  path,
  env,
}: LoadOptions): Promise<{ readonly host: string; readonly port: number }> {
  const { sources } = await readSources(path);
  const read = sources.map((source, order) => readYaml(source, order, env));
  if (read.some(({ wellFormed }) => !wellFormed)) throw configError(read.flatMap(({ problems }) => problems));
  const { root } = merge(read.map(({ root }) => root));
  const listen = ['http', 'listen'];
  const written = find(root, listen);
  const { data, error } = Http.pick({ listen: true }).safeParse({ listen: written?.value ?? undefined });
  if (data !== undefined && written?.broken !== true) return data.listen;
  throw configError([problemAt(root, listen, error?.issues[0]?.message ?? 'cannot be told')]);
}
