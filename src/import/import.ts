import type { Environment } from '#config/environment.ts';
import type { Draft, Note } from './draft.ts';
import { finish } from './finish.ts';
import { importGatus } from './gatus/index.ts';

interface Source {
  readonly title: string;
  readonly read: (paths: readonly string[]) => Promise<Draft>;
}

/** What can be imported, by the word for it. */
export const importSources = {
  gatus: { title: 'Gatus', read: importGatus },
} as const satisfies Record<string, Source>;
export type ImportSource = keyof typeof importSources;

export interface Imported {
  /** The configuration. */
  readonly text: string;
  /** Secrets, by the path of their files beside it. */
  readonly files: ReadonlyMap<string, string>;
  /** Everything that is not as it was. */
  readonly notes: readonly Note[];
  readonly targets: number;
}

/** A configuration that does what another program did by these files. Rejects with `config_invalid` where one cannot be read. */
export async function importFrom(source: ImportSource, paths: readonly string[], env: Environment): Promise<Imported> {
  const { title, read } = importSources[source];
  const draft = await read(paths);
  const text = finish(draft, env, [`Imported from ${title}. What is not as it was stands in the list of the import.`]);
  return { text, files: draft.files, notes: draft.notes, targets: draft.targets.size };
}
