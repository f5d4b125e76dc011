import { readFile } from 'node:fs/promises';
import { messageOf, WatchpostError } from '#kernel/errors.ts';
import type { Config } from '../config.ts';
import { loadConfig, type LoadOptions } from '../load.ts';
import { readSources, type SourceText } from '../read/source.ts';
import { type TargetEntry, withoutTarget, withTarget } from './target-lines.ts';
import { type TargetPosition, withLines, writtenTargets } from './written-target.ts';
import { writeSource } from './write-source.ts';

export interface EditPlace extends Pick<LoadOptions, 'path' | 'env'> {
  /** The file to extend. Default: the last one of the configuration that has targets. */
  readonly file?: string | undefined;
}

/** A change of one file of a configuration, found good and not written yet. */
export interface ConfigEdit {
  readonly file: string;
  readonly before: string;
  readonly after: string;
  /** What the configuration will be. */
  readonly config: Config;
}

/** One more target. Rejects with `config_invalid` if the configuration would be wrong, with `usage` if it has to be changed by hand. */
export async function planAddition(place: EditPlace, entry: TargetEntry): Promise<ConfigEdit> {
  const source = await sourceToExtend(place);
  return planned(place, source, withTarget(source, entry));
}

/** The same for a target less. */
export async function planRemoval(place: EditPlace, name: string): Promise<ConfigEdit> {
  const { sources } = await readSources(place.path);
  for (const source of sources) {
    const text = withoutTarget(source, name);
    if (text !== null) return planned(place, source, text);
  }
  const { targets } = await loadConfig(place);
  const isListed = targets.some((target) => target.name === name);
  const reason = isListed ? 'comes from a list, and is removed there' : 'is no target of this configuration';
  throw new WatchpostError('usage', `${name} ${reason}`);
}

/** A target as it is written. */
export interface WrittenTarget extends TargetPosition {
  readonly lines: string;
}

/** Other lines for a target, and those that they were made of. */
export interface ChangedLines {
  readonly name: string;
  readonly lines: string;
  readonly seen: string;
}

/** Changed lines, found good and not written yet, with the name that the target has in them. */
export interface TargetChangePlan extends ConfigEdit {
  readonly name: string;
}

/**
 * Rejects with `edit_conflict` if the target is written differently from what was seen, and otherwise as {@link planAddition}.
 * Positions in the text are those of the file.
 */
async function planChange(place: EditPlace, { name, lines, seen }: ChangedLines): Promise<TargetChangePlan> {
  const { sources } = await readSources(place.path);
  for (const source of sources) {
    const found = writtenTargets(source).find((one) => one.name === name);
    if (found === undefined) continue;
    const at = `${found.file}:${found.line}`;
    if (found.byHand !== null) throw new WatchpostError('usage', `${at}: ${name} ${found.byHand}: change it there`);
    if (unified(found.lines) !== unified(seen))
      throw new WatchpostError('edit_conflict', `${at}: ${name} was changed in the file meanwhile: nothing is written`);
    const { text, name: renamed } = withLines(source, found, lines);
    return { ...(await planned(place, source, text)), name: renamed ?? name };
  }
  throw new WatchpostError('edit_conflict', `${name} is not in the files any more: nothing is written`);
}

/** Where each target of the files is written. */
async function targetPlaces({ path }: EditPlace): Promise<ReadonlyMap<string, WrittenTarget>> {
  const { sources } = await readSources(path);
  const all = sources.flatMap((source) => writtenTargets(source));
  return new Map(all.map(({ name, file, line, byHand, lines }) => [name, { file, line, byHand, lines }]));
}

// Forms send lines with newlines of their own.
const unified = (text: string) => text.replaceAll(/\r\n?/g, '\n').trimEnd();

/** Writes it, unless the file was changed since. */
export async function writeEdit({ file, before, after }: Omit<ConfigEdit, 'config'>): Promise<void> {
  if ((await readFile(file, 'utf8')) !== before)
    throw new WatchpostError('usage', `${file} was changed meanwhile: nothing is written`);
  try {
    await writeSource(file, after);
  } catch (error) {
    throw new WatchpostError('usage', `${file} cannot be written: ${messageOf(error)}`, { cause: error });
  }
}

/** Changes the targets of a configuration for the program that runs with it. */
export interface TargetEditor {
  add(entry: TargetEntry): Promise<void>;
  remove(name: string): Promise<void>;
  /** Gives the name that the target has then. */
  change(changed: ChangedLines): Promise<string>;
  /** What a change would be. */
  plan(changed: ChangedLines): Promise<TargetChangePlan>;
  places(): Promise<ReadonlyMap<string, WrittenTarget>>;
  /** The name that the target of the last change had before it; null if there is no change to take back. */
  readonly last: string | null;
  /** Takes the last change back, unless the file was changed since, and gives the name that the target had before it. */
  undo(): Promise<string>;
}

export function createTargetEditor(place: EditPlace): TargetEditor {
  let last: (ConfigEdit & { readonly target: string }) | null = null;
  async function make(edit: ConfigEdit, target: string): Promise<void> {
    await writeEdit(edit);
    last = { ...edit, target };
  }
  return {
    async add(entry) {
      // What the environment holds is not for everyone who may add a target.
      if (JSON.stringify(entry).includes('${'))
        throw new WatchpostError('usage', `${entry.name}: references to variables are added by hand`);
      await make(await planAddition(place, entry), entry.name);
    },
    remove: async (name) => make(await planRemoval(place, name), name),
    async change(changed) {
      const plan = await planChange(place, changed);
      await make(plan, changed.name);
      return plan.name;
    },
    get last() {
      return last?.target ?? null;
    },
    plan: async (changed) => planChange(place, changed),
    places: async () => targetPlaces(place),
    async undo() {
      if (last === null) throw new WatchpostError('usage', 'there is no change to take back');
      const { file, before, after, target } = last;
      await writeEdit({ file, before: after, after: before });
      last = null;
      return target;
    },
  };
}

async function planned({ path, env }: EditPlace, { file, text }: SourceText, after: string): Promise<ConfigEdit> {
  const config = await loadConfig({ path, env, instead: { file, text: after } });
  return { file, before: text, after, config };
}

async function sourceToExtend({ path, file }: EditPlace): Promise<SourceText> {
  const { sources } = await readSources(path);
  const named =
    file === undefined ? undefined : sources.find((source) => source.file === file || source.file.endsWith(`/${file}`));
  if (file !== undefined && named === undefined) {
    const names = sources.map((source) => source.file).join(', ');
    throw new WatchpostError('usage', `--file: ${file} is no file of this configuration, which has ${names}`);
  }
  const source = named ?? sources.findLast(({ text }) => /^targets:/m.test(text)) ?? sources.at(-1);
  if (source === undefined) throw new WatchpostError('config_invalid', `${path}: there is no file to change`);
  return source;
}
