import type { CheckSpec, Outcome } from '#checks/index.ts';
import { validateConfig } from '#config/check/validate.ts';
import { readYaml } from '#config/read/yaml.ts';
import type { EnvironmentVariables } from '#config/read/environment.ts';
import type { Draft, ImportNote } from './draft.ts';
import { literal } from './convert.ts';
import { finish } from './finish.ts';
import type { OriginalJudge } from './original.ts';

interface ImportFormat {
  readonly title: string;
  readonly read: (paths: readonly string[], env: EnvironmentVariables) => Promise<Draft>;
  /** Whether `${NAME}` in what is read stands for the environment already. */
  readonly hasVariables: boolean;
}

/** The formats that can be imported, by name; each is loaded when it is read. */
export const importSources = {
  gatus: {
    title: 'Gatus',
    read: async (paths, env) => (await import('./gatus/index.ts')).importGatus(paths, env),
    hasVariables: true,
  },
  blackbox: {
    title: 'Prometheus and the blackbox exporter',
    read: async (paths) => (await import('./blackbox/index.ts')).importBlackbox(paths),
    hasVariables: false,
  },
  kuma: {
    title: 'Uptime Kuma',
    read: async (paths) => (await import('./kuma/index.ts')).importKuma(paths),
    hasVariables: false,
  },
} as const satisfies Record<string, ImportFormat>;
export type ImportSource = keyof typeof importSources;

export interface ImportResult {
  /** The configuration. */
  readonly text: string;
  /** Secrets, by the path of their files beside it. */
  readonly files: ReadonlyMap<string, string>;
  /** Everything that is not as it was. */
  readonly notes: readonly ImportNote[];
  readonly targets: number;
  /** Imported targets whose responses both can judge, and the names of the others by check type. */
  readonly comparable: readonly ComparableTarget[];
  readonly incomparable: ReadonlyMap<string, readonly string[]>;
  /** What was measured before, from the oldest on; null if there is nothing. */
  readonly history: (() => Iterable<ImportedResult>) | null;
}

/** An imported target, beside how it was judged before. */
export interface ComparableTarget {
  readonly name: string;
  readonly spec: CheckSpec;
  readonly everyMs: number;
  readonly judge: OriginalJudge;
}

export interface ImportedResult {
  readonly target: string;
  readonly at: number;
  readonly outcome: Outcome;
}

interface ImportOptions {
  readonly env: EnvironmentVariables;
  /** Whether what was measured before is imported too. */
  readonly withHistory: boolean;
}

/** A configuration that does what another program did by these files. Rejects with `config_invalid` if one cannot be read. */
export async function importFrom(
  source: ImportSource,
  paths: readonly string[],
  { env, withHistory }: ImportOptions,
): Promise<ImportResult> {
  const { title, read, hasVariables } = importSources[source];
  const draft = await read(paths, env);
  if (!withHistory) forgetHistory(draft);
  const heading = [`Imported from ${title}. What is not as it was stands in the list of the import.`];
  const text = finish(draft, { env, heading, change: hasVariables ? (value) => value : literal });
  const { files, notes, targets } = draft;
  return { text, files, notes, targets: targets.size, history: historyOf(draft), ...comparisonsOf(draft, text, env) };
}

function comparisonsOf(
  { targets }: Draft,
  text: string,
  env: EnvironmentVariables,
): Pick<ImportResult, 'comparable' | 'incomparable'> {
  const { root } = readYaml({ file: 'watchpost.yaml', text }, 0, env);
  const { file, targets: read } = validateConfig(root);
  const comparable: ComparableTarget[] = [];
  const incomparable = new Map<string, string[]>();
  for (const { name, spec, keys } of read) {
    const judge = targets.get(name)?.judge;
    if (judge === undefined) incomparable.set(spec.type, [...(incomparable.get(spec.type) ?? []), name]);
    else comparable.push({ name, spec, everyMs: keys.every ?? file?.defaults.every ?? 60_000, judge });
  }
  return { comparable, incomparable };
}

// Results of what is not watched any more are left behind.
function historyOf({ targets, history }: Draft): ImportResult['history'] {
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
