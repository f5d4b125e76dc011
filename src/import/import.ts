import type { Outcome } from '#checks/index.ts';
import type { Environment } from '#config/read/environment.ts';
import type { Draft, Note } from './draft.ts';
import { literal } from './convert.ts';
import { finish } from './finish.ts';
import { importBlackbox } from './blackbox/index.ts';
import { importGatus } from './gatus/index.ts';
import { importKuma } from './kuma/index.ts';

interface Source {
  readonly title: string;
  readonly read: (paths: readonly string[], env: Environment) => Promise<Draft>;
  /** Whether `${NAME}` in what is read stands for the environment already. */
  readonly hasVariables: boolean;
}

/** What can be imported, by the word for it. */
export const importSources = {
  gatus: { title: 'Gatus', read: importGatus, hasVariables: true },
  blackbox: { title: 'Prometheus and the blackbox exporter', read: importBlackbox, hasVariables: false },
  kuma: { title: 'Uptime Kuma', read: importKuma, hasVariables: false },
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
  /** What was measured before, from the oldest on; null where there is nothing. */
  readonly history: (() => Iterable<ImportedResult>) | null;
}

export interface ImportedResult {
  readonly target: string;
  readonly at: number;
  readonly outcome: Outcome;
}

interface ImportOptions {
  readonly env: Environment;
  /** Whether what was measured before is imported too. */
  readonly withHistory: boolean;
}

/** A configuration that does what another program did by these files. Rejects with `config_invalid` where one cannot be read. */
export async function importFrom(
  source: ImportSource,
  paths: readonly string[],
  { env, withHistory }: ImportOptions,
): Promise<Imported> {
  const { title, read, hasVariables } = importSources[source];
  const draft = await read(paths, env);
  if (!withHistory) forgetHistory(draft);
  const heading = [`Imported from ${title}. What is not as it was stands in the list of the import.`];
  const text = finish(draft, { env, heading, change: hasVariables ? (value) => value : literal });
  return { text, files: draft.files, notes: draft.notes, targets: draft.targets.size, history: historyOf(draft) };
}

// Results of what is not watched any more are left behind.
function historyOf({ targets, history }: Draft): Imported['history'] {
  if (history === null) return null;
  const names = new Map([...targets].map(([name, { origin }]) => [origin, name]));
  return function* results() {
    for (const { origin, at, outcome } of history()) {
      const target = names.get(origin);
      if (target !== undefined) yield { target, at, outcome };
    }
  };
}

function forgetHistory(draft: Draft): void {
  draft.history = null;
  draft.sections.delete('retention');
}
